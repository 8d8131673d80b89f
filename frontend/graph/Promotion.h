// NumPy's broadcasting and Keras's dtype promotion, for operands of an operation.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "runtime/base/Broadcast.h"
#include "runtime/base/Number.h"

namespace halftone::detail {

/// The current trace. Ops run inside apply(), so there is one.
Trace &tracing();
/// `x` in `dtype`; `x` itself if it has that dtype.
Value asDtype(const Value &x, DType dtype, std::string_view origin = "promotion");
/// `x` as a float: integers and bools in floatx.
Value asFloat(const Value &x);
/// `x` in a dtype of arithmetic: bools in int32.
Value asNumber(const Value &x);
/// `dtype` if it is a float, else floatx.
DType floatOf(DType dtype);
/// `dtype`, or int32 for bools.
DType numberOf(DType dtype);
/// What a number becomes beside a Value of this dtype: its kind decides, not whether it is whole.
DType dtypeBeside(const Number &number, DType other);
/// float32, or `dtype` itself if it is wider.
DType atLeastFloat32(DType dtype);
/// The float `x` in that dtype.
Value atLeastFloat32(const Value &x);
/// How squares are added in this dtype if the largest magnitude of the elements is above `from`: of the elements times `factor`, a
/// power of two. So no sum of up to 2^40 squares overflows, and no square underflows that would change the sum.
struct SquareScale {
  double from, factor;
};
SquareScale squareScale(DType dtype);
/// The dtype of indices of an axis of this extent: int32 if they fit.
DType indexDtype(int64_t extent);
/// `x` repeated to `shape` by NumPy's rule. value_error when it does not fit.
Value broadcastTo(const Value &x, const Shape &shape);
/// Both operands in the dtype and the shape that they promote and broadcast to.
struct Operands {
  Value a, b;
};
/// In `computed` of the dtype that the operands promote to. A number is a splat of the other operand's shape. value_error
/// for an integer that the dtype does not hold.
Operands fit(std::string_view op, const Operand &a, const Operand &b, DType (*computed)(DType) = nullptr);
/// `axis` counted from the front; value_error naming `op` when out of range.
int64_t normalizeAxis(std::string_view op, int64_t axis, int64_t rank);
/// Axes counted from the front, ascending, without duplicates; empty means all.
std::vector<int64_t> normalizeAxes(std::string_view op, const std::vector<int64_t> &axes, int64_t rank);
/// A constant with the shape and the dtype of `like`, as Keras treats a Python scalar. An integer dtype takes the number
/// without its fraction; value_error if it does not hold that.
Value scalarLike(const Number &value, const Value &like, std::string_view op = "a constant");
/// The dtype named by floatx().
DType floatxDtype();

} // namespace halftone::detail
