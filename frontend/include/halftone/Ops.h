// Operations on Values, named as in keras.ops.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Value.h"

namespace halftone {
/// Axes of a reduction: one, several, or (empty) all.
class Axes {
public:
  Axes() = default;
  Axes(int axis) : list_{axis} {}
  Axes(std::initializer_list<int64_t> axes) : list_(axes) {}
  explicit Axes(std::vector<int64_t> axes) : list_(std::move(axes)) {}
  const std::vector<int64_t> &list() const { return list_; }

private:
  std::vector<int64_t> list_;
};

namespace ops {
HALFTONE_API Value cast(const Value &x, DType dtype); // a rounding cast: never removed
/// As NumPy's: batch axes broadcast, a vector is a row on the left and a column on the right. int8 by int8 gives int32.
HALFTONE_API Value matmul(const Value &a, const Value &b);
HALFTONE_API Value add(const Value &a, const Value &b);
HALFTONE_API Value subtract(const Value &a, const Value &b);
HALFTONE_API Value multiply(const Value &a, const Value &b);
HALFTONE_API Value divide(const Value &a, const Value &b);  // integers are divided in floatx
HALFTONE_API Value power(const Value &a, const Value &b);   // integers stay integers and wrap
HALFTONE_API Value maximum(const Value &a, const Value &b); // a tie shares the gradient
HALFTONE_API Value minimum(const Value &a, const Value &b);
/// A bound that is no whole number makes an integer x a float. At a bound the gradient is half.
HALFTONE_API Value clip(const Value &x, double x_min, double x_max);
HALFTONE_API Value where(const Value &condition, const Value &a, const Value &b);
HALFTONE_API Value exp(const Value &x);
HALFTONE_API Value expm1(const Value &x);
HALFTONE_API Value log(const Value &x);
HALFTONE_API Value log1p(const Value &x);
HALFTONE_API Value sqrt(const Value &x);
HALFTONE_API Value rsqrt(const Value &x);
HALFTONE_API Value square(const Value &x);
HALFTONE_API Value abs(const Value &x);
HALFTONE_API Value sign(const Value &x);
HALFTONE_API Value negative(const Value &x);
HALFTONE_API Value floor(const Value &x);
HALFTONE_API Value ceil(const Value &x);
HALFTONE_API Value round(const Value &x); // ties to even; integers stay
HALFTONE_API Value sin(const Value &x);
HALFTONE_API Value cos(const Value &x);
HALFTONE_API Value erf(const Value &x);
HALFTONE_API Value relu(const Value &x); // slope 0 at 0
HALFTONE_API Value gelu(const Value &x, bool approximate = true);
HALFTONE_API Value sigmoid(const Value &x);
HALFTONE_API Value silu(const Value &x);
HALFTONE_API Value softplus(const Value &x);
HALFTONE_API Value elu(const Value &x, double alpha = 1.0);
HALFTONE_API Value leaky_relu(const Value &x, double negative_slope = 0.2);
HALFTONE_API Value tanh(const Value &x);
HALFTONE_API Value softmax(const Value &x, int64_t axis = -1);
HALFTONE_API Value log_softmax(const Value &x, int64_t axis = -1);
/// Sums and products of integers are made in 32 bits at least, those of bools in int32.
HALFTONE_API Value sum(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value mean(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value max(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value min(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value prod(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value argmax(const Value &x, int64_t axis = -1); // int32, the first of equals
HALFTONE_API Value argmin(const Value &x, int64_t axis = -1);
HALFTONE_API Value equal(const Value &a, const Value &b);
HALFTONE_API Value not_equal(const Value &a, const Value &b);
HALFTONE_API Value less(const Value &a, const Value &b);
HALFTONE_API Value less_equal(const Value &a, const Value &b);
HALFTONE_API Value greater(const Value &a, const Value &b);
HALFTONE_API Value greater_equal(const Value &a, const Value &b);
HALFTONE_API Value logical_and(const Value &a, const Value &b);
HALFTONE_API Value logical_or(const Value &a, const Value &b);
HALFTONE_API Value logical_not(const Value &x);
HALFTONE_API Value isfinite(const Value &x);
HALFTONE_API Value reshape(const Value &x, const Shape &newshape); // one dimension may be -1 (none)
HALFTONE_API Value transpose(const Value &x, const std::vector<int64_t> &axes = {});
HALFTONE_API Value broadcast_to(const Value &x, const Shape &shape);
HALFTONE_API Value concatenate(const Values &xs, int64_t axis = -1);
/// The slices of x along `axis` at the given indices. An index below 0 reads slice 0, one past the end the last.
HALFTONE_API Value take(const Value &x, const Value &indices, int64_t axis = 0);
/// The part of x of this shape that begins at `start`; a dimension of -1 (none) goes to the end.
HALFTONE_API Value slice(const Value &x, const Shape &start, const Shape &shape);
HALFTONE_API Value expand_dims(const Value &x, int64_t axis);
HALFTONE_API Value squeeze(const Value &x, const Axes &axis = {});
HALFTONE_API Value one_hot(const Value &x, int64_t num_classes, DType dtype = float32);
HALFTONE_API Value zeros_like(const Value &x);
HALFTONE_API Value ones_like(const Value &x);
HALFTONE_API Value full_like(const Value &x, double value);
HALFTONE_API Value stop_gradient(const Value &x);
HALFTONE_API Value all_finite(const Values &xs); // one bool
} // namespace ops
} // namespace halftone
