// NumPy's broadcasting and Keras's dtype promotion, for operands of an operation.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/Trace.h"

namespace halftone::detail {

/// The open trace; ops run inside apply(), so there is one.
Trace &tracing();
/// `x` in `dtype`; unchanged when it has it.
Value asDtype(const Value &x, DType dtype, std::string_view origin = "promotion");
/// `x` as a float: integers and bools in floatx.
Value asFloat(const Value &x);
/// `x` in a dtype of arithmetic: bools in int32.
Value asNumber(const Value &x);
/// Whether a Python programmer would have written an int: a whole number (within 64 bits).
bool isWhole(double number);
/// Where a whole number lies: below the integer `dtype`'s range, in it, or above.
enum class Place : uint8_t { below, inside, above };
Place placeIn(DType dtype, double number);
/// The dtype of indices of an axis of this extent: int32 if they fit.
DType indexDtype(int64_t extent);
/// `x` repeated to `shape` by NumPy's rule. value_error when it does not fit.
Value broadcastTo(const Value &x, const Shape &shape);
/// The shape two operands broadcast to. value_error naming `op` and both shapes when they do not.
Shape broadcastShape(std::string_view op, const Shape &a, const Shape &b);
/// `axis` counted from the front; value_error naming `op` when out of range.
int64_t normalizeAxis(std::string_view op, int64_t axis, int64_t rank);
/// Axes counted from the front, ascending, without duplicates; empty means all.
std::vector<int64_t> normalizeAxes(std::string_view op, const std::vector<int64_t> &axes, int64_t rank);
/// A scalar constant with the dtype of `like`, as Keras treats a Python scalar.
Value scalarLike(double value, const Value &like);
/// The dtype named by floatx().
DType floatxDtype();

} // namespace halftone::detail
