// NumPy's broadcasting and Keras's dtype promotion, for operands of an operation.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "runtime/base/Broadcast.h"
#include "runtime/base/Number.h"

namespace halftone::detail {

/// The current trace. Ops run inside apply(), so there is one.
Trace &tracing();
/// Casts `x` to `dtype`; returns `x` itself if it has that dtype.
Value asDtype(const Value &x, DType dtype, std::string_view origin = "promotion");
/// Casts `x` to a float: integers and bools to floatx.
Value asFloat(const Value &x);
/// Casts `x` to a dtype with arithmetic: bools to int32.
Value asNumber(const Value &x);
/// `dtype` if it is a float, otherwise floatx.
DType floatOf(DType dtype);
/// `dtype`, or int32 for bools.
DType numberOf(DType dtype);
/// The dtype of a number next to a Value of dtype `other`. It depends on the kind of the number, not on whether its
/// value is integral.
DType numberDtype(const Number &number, DType other);
/// float32, or `dtype` itself if it is wider.
DType atLeastFloat32(DType dtype);
/// Casts the float `x` to that dtype.
Value atLeastFloat32(const Value &x);
/// The scaling of a sum of squares in this dtype. If the largest magnitude of the elements is above `from`, they are
/// multiplied by `factor`, a power of two. So no sum of up to 2^40 squares overflows, and no square that would change
/// the sum underflows.
struct SquareScale {
  double from, factor;
};
SquareScale squareScale(DType dtype);
/// The dtype of indices of an axis of this extent: int32 if they fit.
DType indexDtype(int64_t extent);
/// Broadcasts `x` to `shape` by NumPy's rule. value_error if it does not fit.
Value broadcastTo(const Value &x, const Shape &shape);
/// Both operands in their promoted dtype and broadcast shape.
struct Operands {
  Value a, b;
};
/// Promotes both operands to `computed` of their common dtype. A number becomes a splat of the other operand's shape.
/// value_error for an integer that the dtype cannot represent.
Operands fit(std::string_view op, const Operand &a, const Operand &b, DType (*computed)(DType) = nullptr);
/// Normalizes `axis` to be non-negative; value_error naming `op` if it is out of range.
int64_t normalizeAxis(std::string_view op, int64_t axis, int64_t rank);
/// Normalizes axes: non-negative and ascending; empty means all. value_error naming `op` for an axis that is out of
/// range or given twice.
std::vector<int64_t> normalizeAxes(std::string_view op, const std::vector<int64_t> &axes, int64_t rank);
/// A constant with the shape and dtype of `like`, as Keras treats a Python scalar. For an integer dtype the number is
/// truncated; value_error if the dtype cannot represent the result.
Value scalarLike(const Number &value, const Value &like, std::string_view op = "a constant");
/// The dtype named by floatx().
DType floatxDtype();

} // namespace halftone::detail
