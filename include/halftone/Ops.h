// Operations on Values, named as in keras.ops.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Choice.h"
#include "Value.h"
#include <array>
#include <functional>
#include <optional>
#include <string>

namespace halftone {
/// One or more integers, where Keras takes an int or a tuple.
class Integers {
public:
  Integers() = default;
  template <detail::Whole I> Integers(I one) : list_{detail::whole(one, "an integer argument")} {}
  Integers(std::initializer_list<int64_t> list) : list_(list) {}
  explicit Integers(std::vector<int64_t> list) : list_(std::move(list)) {}
  const std::vector<int64_t> &list() const { return list_; }

private:
  std::vector<int64_t> list_;
};
using Axes = Integers; // the axes of a reduction; empty: all

/// The sections of split(): a number of equal sections, or the indices at which to split.
class Sections {
public:
  template <detail::Whole I> Sections(I count) : count_(detail::whole(count, "the number of sections")) {}
  Sections(std::initializer_list<int64_t> indices) : indices_(indices) {}
  Sections(std::vector<int64_t> indices) : indices_(std::move(indices)) {}
  std::optional<int64_t> count() const { return count_; }
  const std::vector<int64_t> &indices() const { return indices_; }

private:
  std::optional<int64_t> count_;
  std::vector<int64_t> indices_;
};

/// The start indices of a box: one per axis, each a number or an integer scalar, or a single integer Value (rank,).
class Starts {
public:
  Starts(std::initializer_list<Operand> each) : each_(each) {}
  Starts(const Shape &each) : each_(each.begin(), each.end()) {}
  explicit Starts(std::vector<Operand> each) : each_(std::move(each)) {}
  Starts(const Value &vector) : vector_(vector) {}
  const Value &vector() const { return vector_; } // undefined if each() holds the indices
  const std::vector<Operand> &each() const { return each_; }

private:
  Value vector_{};
  std::vector<Operand> each_;
};

/// The number of elements that pad() adds before and after each axis: pad(x, 1) and pad(x, {1, 2}) for all axes, pad(x,
/// {{0, 0}, {2, 1}}) per axis.
class PadWidth {
public:
  using Sides = std::pair<int64_t, int64_t>;
  template <detail::Whole I> PadWidth(I both) : PadWidth(both, both) {}
  template <detail::Whole I, detail::Whole J>
  PadWidth(I before, J after) : sides_{{detail::whole(before, "a width"), detail::whole(after, "a width")}} {}
  PadWidth(std::initializer_list<Sides> each) : sides_(each) {}
  explicit PadWidth(std::vector<Sides> each) : sides_(std::move(each)) {}
  const std::vector<Sides> &sides() const { return sides_; } // one, or one per axis

private:
  std::vector<Sides> sides_;
};

namespace ops {
/// The arguments of conv(). Lists have one entry per spatial axis; a list with one entry applies to all.
struct ConvArgs {
  std::vector<int64_t> strides = {1};
  Choice<Padding> padding = Padding::valid;
  Choice<DataFormat> data_format = DataFormat::channels_last;
  std::vector<int64_t> dilation_rate = {1};
};
struct ConvTransposeArgs {
  std::vector<int64_t> strides = {1};
  Choice<Padding> padding = Padding::valid;
  std::optional<std::vector<int64_t>> output_padding = {};
  Choice<DataFormat> data_format = DataFormat::channels_last;
  std::vector<int64_t> dilation_rate = {1};
};
struct PoolArgs {
  std::optional<std::vector<int64_t>> strides = {}; // default: pool_size
  Choice<Padding> padding = Padding::valid;
  Choice<DataFormat> data_format = DataFormat::channels_last;
};

struct DotProductAttentionArgs { // Keras's flash_attention and attn_logits_soft_cap, which select kernels, are absent
  Value bias{};                  // a float, added to the scores; it and the mask broadcast to (batch, n, t, s)
  Value mask{};                  // bool: false where a query must not attend to a key
  std::optional<double> scale{}; // default: 1 / sqrt(h)
  bool is_causal = false;        // no query attends to a key at a later position
};

/// A value and its gradient: a function from the cotangent of the value to the cotangents of the arguments.
struct WithGradient {
  Value value;
  std::function<Values(const Value &upstream)> gradient;
};

HALFTONE_API Value cast(const Value &x, DType dtype); // a rounding cast: never removed
/// Matrix product as in NumPy: batch axes broadcast; a vector is a row on the left and a column on the right. int8 by
/// int8 gives int32.
HALFTONE_API Value matmul(const Value &a, const Value &b);
HALFTONE_API Value add(const Operand &a, const Operand &b);
HALFTONE_API Value subtract(const Operand &a, const Operand &b);
HALFTONE_API Value multiply(const Operand &a, const Operand &b);
HALFTONE_API Value divide(const Operand &a, const Operand &b);        // integers are divided in floatx
HALFTONE_API Value divide_no_nan(const Operand &a, const Operand &b); // 0 where b is 0
HALFTONE_API Value power(const Operand &a, const Operand &b);         // integers give integers, which wrap
HALFTONE_API Value maximum(const Operand &a, const Operand &b);       // a tie splits the gradient
HALFTONE_API Value minimum(const Operand &a, const Operand &b);
/// Clamps x to [x_min, x_max]. With a C++ floating-point bound an integer x gives a float. An x_min below the range of
/// an integer dtype, or an x_max above it, has no effect; beyond the opposite end it is a value_error. The gradient at
/// a bound is 1/2.
HALFTONE_API Value clip(const Value &x, const Operand &x_min, const Operand &x_max);
HALFTONE_API Value where(const Value &condition, const Operand &a, const Operand &b);
HALFTONE_API Value exp(const Value &x);
HALFTONE_API Value exp2(const Value &x);
HALFTONE_API Value expm1(const Value &x);
HALFTONE_API Value log(const Value &x);
HALFTONE_API Value log2(const Value &x);
HALFTONE_API Value log10(const Value &x);
HALFTONE_API Value log1p(const Value &x);
HALFTONE_API Value sqrt(const Value &x);
HALFTONE_API Value cbrt(const Value &x);
HALFTONE_API Value rsqrt(const Value &x);
HALFTONE_API Value square(const Value &x);
HALFTONE_API Value reciprocal(const Value &x); // integers and bools give floatx
/// Python's `//` and `%`: the quotient rounded toward -inf, and the remainder, with the sign of b. Integer division by
/// 0 gives 0; for floats, division by 0 gives a / 0 and NaN.
HALFTONE_API Value floor_divide(const Operand &a, const Operand &b); // gradient 0
HALFTONE_API Value mod(const Operand &a, const Operand &b);
/// sqrt(a^2 + b^2), without intermediate overflow. The gradient is NaN where both are 0.
HALFTONE_API Value hypot(const Operand &a, const Operand &b);
HALFTONE_API Value logaddexp(const Operand &a, const Operand &b); // log(e^a + e^b)
HALFTONE_API Value abs(const Value &x);
HALFTONE_API Value sign(const Value &x);
HALFTONE_API Value negative(const Value &x);
HALFTONE_API Value floor(const Value &x);
HALFTONE_API Value ceil(const Value &x);
HALFTONE_API Value trunc(const Value &x); // integers are unchanged
HALFTONE_API Value round(const Value &x); // ties to even; integers are unchanged
HALFTONE_API Value sin(const Value &x);
HALFTONE_API Value cos(const Value &x);
HALFTONE_API Value tan(const Value &x);
HALFTONE_API Value arcsin(const Value &x);
HALFTONE_API Value arccos(const Value &x);
HALFTONE_API Value arctan(const Value &x);
HALFTONE_API Value arctan2(const Operand &x1, const Operand &x2); // the angle of the point (x2, x1)
HALFTONE_API Value sinh(const Value &x);
HALFTONE_API Value cosh(const Value &x);
HALFTONE_API Value arcsinh(const Value &x);
HALFTONE_API Value arccosh(const Value &x);
HALFTONE_API Value arctanh(const Value &x);
HALFTONE_API Value erf(const Value &x);
HALFTONE_API Value erfinv(const Value &x); // integers and bools give floatx
HALFTONE_API Value relu(const Value &x);   // gradient 0 at 0
HALFTONE_API Value gelu(const Value &x, bool approximate = true);
HALFTONE_API Value sigmoid(const Value &x);
HALFTONE_API Value silu(const Value &x);
HALFTONE_API Value softplus(const Value &x);
HALFTONE_API Value elu(const Value &x, double alpha = 1.0);
HALFTONE_API Value leaky_relu(const Value &x, double negative_slope = 0.2);
HALFTONE_API Value tanh(const Value &x);
HALFTONE_API Value relu6(const Value &x);
HALFTONE_API Value selu(const Value &x);
HALFTONE_API Value celu(const Value &x, double alpha = 1.0);
HALFTONE_API Value glu(const Value &x, int64_t axis = -1);
HALFTONE_API Value hard_sigmoid(const Value &x);
HALFTONE_API Value hard_silu(const Value &x);
HALFTONE_API Value hard_tanh(const Value &x);
HALFTONE_API Value hard_shrink(const Value &x, double threshold = 0.5);
HALFTONE_API Value soft_shrink(const Value &x, double threshold = 0.5);
HALFTONE_API Value tanh_shrink(const Value &x);
HALFTONE_API Value threshold(const Value &x, double threshold, double default_value);
HALFTONE_API Value log_sigmoid(const Value &x);
HALFTONE_API Value mish(const Value &x);
HALFTONE_API Value softsign(const Value &x);
HALFTONE_API Value sparse_plus(const Value &x);
HALFTONE_API Value sparse_sigmoid(const Value &x);
HALFTONE_API Value sparsemax(const Value &x, int64_t axis = -1);
HALFTONE_API Value squareplus(const Value &x, double b = 4.0);
HALFTONE_API Value softmax(const Value &x, int64_t axis = -1);
HALFTONE_API Value log_softmax(const Value &x, int64_t axis = -1);
/// Reductions. Sums and products of integers are computed in at least 32 bits, those of bools in int32.
HALFTONE_API Value sum(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value mean(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value max(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value min(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value prod(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value argmax(const Value &x, int64_t axis = -1); // int32; ties give the first
HALFTONE_API Value argmin(const Value &x, int64_t axis = -1);
HALFTONE_API Value equal(const Operand &a, const Operand &b);
HALFTONE_API Value not_equal(const Operand &a, const Operand &b);
HALFTONE_API Value less(const Operand &a, const Operand &b);
HALFTONE_API Value less_equal(const Operand &a, const Operand &b);
HALFTONE_API Value greater(const Operand &a, const Operand &b);
HALFTONE_API Value greater_equal(const Operand &a, const Operand &b);
HALFTONE_API Value logical_and(const Operand &a, const Operand &b);
HALFTONE_API Value logical_or(const Operand &a, const Operand &b);
HALFTONE_API Value logical_xor(const Operand &a, const Operand &b);
HALFTONE_API Value logical_not(const Value &x);
/// Bitwise operations on integers and bools. A bool has one bit, except in shifts, where it is an int32. type_error for
/// floats.
HALFTONE_API Value bitwise_and(const Operand &a, const Operand &b);
HALFTONE_API Value bitwise_or(const Operand &a, const Operand &b);
HALFTONE_API Value bitwise_xor(const Operand &a, const Operand &b);
HALFTONE_API Value bitwise_not(const Value &x);
HALFTONE_API Value bitwise_invert(const Value &x); // bitwise_not
/// A negative shift count, or one of at least the dtype's width, shifts out all bits.
HALFTONE_API Value left_shift(const Operand &a, const Operand &b);
HALFTONE_API Value right_shift(const Operand &a, const Operand &b); // signed integers keep their sign
HALFTONE_API Value bitwise_left_shift(const Operand &a, const Operand &b);
HALFTONE_API Value bitwise_right_shift(const Operand &a, const Operand &b);
HALFTONE_API Value isfinite(const Value &x);
HALFTONE_API Value isnan(const Value &x);
HALFTONE_API Value isinf(const Value &x);
/// Replaces NaN by `nan`, and the infinities by `posinf` and `neginf`; these default to the dtype's largest and lowest
/// finite values. Integers are unchanged. The gradient is 0 at replaced elements.
HALFTONE_API Value nan_to_num(const Value &x, double nan = 0.0, std::optional<double> posinf = {},
                              std::optional<double> neginf = {});
HALFTONE_API Value reshape(const Value &x, const Shape &newshape); // one dimension may be -1 (none)
HALFTONE_API Value transpose(const Value &x, const std::vector<int64_t> &axes = {});
HALFTONE_API Value broadcast_to(const Value &x, const Shape &shape);
HALFTONE_API Value concatenate(const Values &xs, int64_t axis = -1);
/// Gathers slices of x along `axis`. Indices out of range are clamped.
HALFTONE_API Value take(const Value &x, const Value &indices, int64_t axis = 0);
/// Gathers elements along an axis of x at indices of the rank of x, whose other axes broadcast with those of x. Without
/// an axis, x is flattened, and the indices are a vector. A negative index counts from the end. An index out of range
/// gives NaN, the lowest signed integer, the largest unsigned integer or true.
HALFTONE_API Value take_along_axis(const Value &x, const Value &indices, std::optional<int64_t> axis = -1);
/// The box of x with this shape at `start`; an extent of -1 (none) reaches to the end of the axis. If `start` holds
/// only numbers, the box must lie within x, or else value_error. In a `start` with Values a negative index counts from
/// the end, and indices are clamped so that the box lies within x.
HALFTONE_API Value slice(const Value &x, const Starts &start, const Shape &shape);
/// x with the box at `start` replaced by the updates. `start` is clamped so that the box lies within x.
HALFTONE_API Value slice_update(const Value &x, const Starts &start, const Value &updates);
HALFTONE_API Value expand_dims(const Value &x, int64_t axis);
HALFTONE_API Value squeeze(const Value &x, const Axes &axis = {});
HALFTONE_API Value one_hot(const Value &x, int64_t num_classes, DType dtype = float32);
HALFTONE_API Value size(const Value &x); // the number of elements of x, an int32 scalar
HALFTONE_API Value zeros_like(const Value &x);
HALFTONE_API Value ones_like(const Value &x);
/// For an integer x the value is truncated, as in Keras; value_error for a number outside of the dtype's range.
HALFTONE_API Value full_like(const Value &x, const Operand &value);
HALFTONE_API Value stop_gradient(const Value &x);
HALFTONE_API Value all_finite(const Values &xs); // a bool scalar

// Statistics. Integers give floatx. Floats narrower than float32 are computed in float32, and the result is rounded
// once.
HALFTONE_API Value var(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value std(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value logsumexp(const Value &x, const Axes &axis = {}, bool keepdims = false);
/// The mean, or the weighted mean sum(x * weights) / sum(weights). The weights have the shape of x, or are a vector
/// along a single axis.
HALFTONE_API Value average(const Value &x, const Axes &axis = {}, const Value &weights = {});
HALFTONE_API Value count_nonzero(const Value &x, const Axes &axis = {}); // int32
HALFTONE_API Value any(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value all(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value squared_difference(const Operand &a, const Operand &b);
/// Cumulative (inclusive) sum along an axis; without an axis, of x flattened. Bools are summed in int32; integers wrap.
HALFTONE_API Value cumsum(const Value &x, std::optional<int64_t> axis = {}, std::optional<DType> dtype = {});
HALFTONE_API Value cumprod(const Value &x, std::optional<int64_t> axis = {}, std::optional<DType> dtype = {});
/// Stable sort in ascending order along an axis; nullopt: of x flattened. -0 and 0 are equal; all NaN are equal and
/// come last. argsort returns the int32 indices.
HALFTONE_API Value sort(const Value &x, std::optional<int64_t> axis = -1);
HALFTONE_API Value argsort(const Value &x, std::optional<int64_t> axis = -1);
/// The k largest elements along the last axis in descending order, and their int32 indices. NaN is the largest; ties
/// keep their order. `sorted` has no effect on the order.
HALFTONE_API std::array<Value, 2> top_k(const Value &x, int64_t k, bool sorted = true);
/// True for each row in which fewer than k predictions exceed that of the target, a class index; a negative index
/// counts from the end. NaN, and the prediction of a class out of range, count as -inf.
HALFTONE_API Value in_top_k(const Value &targets, const Value &predictions, int64_t k);

// Indexed updates and segment reductions. A negative index counts from the end; an index out of range is ignored. Sums
// and products of floats narrower than float32 are computed in float32 and rounded once.
/// Zeros of this shape with the values added at indices (..., n) into the first n axes.
HALFTONE_API Value scatter(const Value &indices, const Value &values, const Shape &shape);
/// The inputs with updates at indices (count, n). Without a reduction the last update of an element wins; otherwise
/// updates are combined with the element.
HALFTONE_API Value scatter_update(const Value &inputs, const Value &indices, const Value &updates,
                                  const std::optional<Choice<ScatterReduction>> &reduction = {});
/// Reduces the rows of each segment, with ids from 0 to num_segments - 1; negative ids are out of range. An empty
/// segment gives the neutral element: 0, 1, the lowest or the largest value.
HALFTONE_API Value segment_sum(const Value &data, const Value &segment_ids, int64_t num_segments);
HALFTONE_API Value segment_prod(const Value &data, const Value &segment_ids, int64_t num_segments);
HALFTONE_API Value segment_max(const Value &data, const Value &segment_ids, int64_t num_segments);
HALFTONE_API Value segment_min(const Value &data, const Value &segment_ids, int64_t num_segments);
/// Histogram along the last axis of x: the count of each integer from 0 to minlength - 1, or the sum of its weights.
/// Negative integers count as 0, larger ones are ignored. The dtype is int32, or that of the weights.
HALFTONE_API Value bincount(const Value &x, const Value &weights, int64_t minlength);
HALFTONE_API Value bincount(const Value &x, int64_t minlength);
/// The int32 insertion indices of the values into an ascending vector. NaN sorts after all numbers.
HALFTONE_API Value searchsorted(const Value &sorted_sequence, const Value &values,
                                const Choice<Side> &side = Side::left);

// Contractions. Unlike matmul, int8 by int8 gives int8, which wraps.
HALFTONE_API Value dot(const Value &a, const Value &b);
/// Contracts the last axes of a with the first of b, or pairs of axes.
HALFTONE_API Value tensordot(const Value &a, const Value &b, int64_t axes = 2);
HALFTONE_API Value tensordot(const Value &a, const Value &b, const Axes &a_axes, const Axes &b_axes);
HALFTONE_API Value outer(const Value &a, const Value &b);
/// Einstein summation, such as "bij,bjk->bik", of one or more operands, contracted from left to right. A label in
/// several operands pairs their axes; a label twice in one operand takes its diagonal; a label that the output lacks is
/// summed over. "..." stands for the other axes of an operand, which broadcast. Without "->" the output has "..." and
/// the sorted labels that occur once. If all operands are int8, the result is int32. value_error for an equation that
/// does not match the operands.
HALFTONE_API Value einsum(std::string_view equation, const Values &operands);

// Joining, splitting, repeating and reordering.
HALFTONE_API Value stack(const Values &xs, int64_t axis = 0);
/// The slices along an axis. `num` is required if the extent of the axis is none.
HALFTONE_API std::vector<Value> unstack(const Value &x, std::optional<int64_t> num = {}, int64_t axis = 0);
/// split(x, 3): three equal sections. split(x, {3}): the first three elements and the rest.
HALFTONE_API std::vector<Value> split(const Value &x, const Sections &indices_or_sections, int64_t axis = 0);
HALFTONE_API Value tile(const Value &x, const Integers &repeats); // along the last axes; additional axes come first
HALFTONE_API Value repeat(const Value &x, int64_t repeats, std::optional<int64_t> axis = {}); // no axis: x flattened
HALFTONE_API Value roll(const Value &x, const Integers &shift, const Axes &axis = {}); // no axis: rolls x flattened
HALFTONE_API Value flip(const Value &x, const Axes &axis = {});
HALFTONE_API Value swapaxes(const Value &x, int64_t axis1, int64_t axis2);
HALFTONE_API Value moveaxis(const Value &x, const Axes &source, const Axes &destination);
HALFTONE_API Value tril(const Value &x, int64_t k = 0); // zero above the k-th diagonal of the last two axes
HALFTONE_API Value triu(const Value &x, int64_t k = 0);
struct PadArgs {
  Choice<PadMode> mode = PadMode::constant;
  std::optional<Operand> constant_values = {}; // default: 0; a number or a scalar, only for mode `constant`
};
HALFTONE_API Value pad(const Value &x, const PadWidth &pad_width, const PadArgs &args = {});
/// The diagonal of two axes, as the last axis: the elements whose index along axis2 is the index along axis1 plus the
/// offset.
HALFTONE_API Value diagonal(const Value &x, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
/// Coordinate matrices: each vector along its own axis, broadcast along the axes of the others.
HALFTONE_API std::vector<Value> meshgrid(const Values &xs, const Choice<GridIndexing> &indexing = GridIndexing::xy);

// Convolutions and pooling over one to three spatial axes. value_error for mismatched shapes and invalid arguments.
/// The kernel has the shape (k..., channels / groups, filters); the number of groups follows from the channels.
HALFTONE_API Value conv(const Value &inputs, const Value &kernel, const ConvArgs &args = {});
/// The kernel has the shape (k..., channels, multiplier).
HALFTONE_API Value depthwise_conv(const Value &inputs, const Value &kernel, const ConvArgs &args = {});
/// A depthwise convolution followed by a pointwise one.
HALFTONE_API Value separable_conv(const Value &inputs, const Value &depthwise_kernel, const Value &pointwise_kernel,
                                  const ConvArgs &args = {});
/// Transposed convolution: the gradient of a convolution with respect to its inputs. The kernel has the shape (k...,
/// filters, channels).
HALFTONE_API Value conv_transpose(const Value &inputs, const Value &kernel, const ConvTransposeArgs &args = {});
/// NaN propagates. The gradient of a tie goes to the first element.
HALFTONE_API Value max_pool(const Value &inputs, const std::vector<int64_t> &pool_size, const PoolArgs &args = {});
/// The mean of the elements inside the input. Integers give floatx.
HALFTONE_API Value average_pool(const Value &inputs, const std::vector<int64_t> &pool_size, const PoolArgs &args = {});

/// Scaled dot-product attention: query (batch, t, n, h), key (batch, s, m, h), value (batch, s, m, e) -> (batch, t, n,
/// e). n is a multiple of m: n / m consecutive heads of the query share a head of key and value. The weights are the
/// softmax, in at least float32, of query . key * scale + bias; a query whose keys are all masked gets the mean of the
/// values. value_error for mismatched shapes.
HALFTONE_API Value dot_product_attention(const Value &query, const Value &key, const Value &value,
                                         const DotProductAttentionArgs &args = {});

/// Returns a function with the value and the gradient that `f` returns. The gradient has one cotangent per argument,
/// with its shape and dtype; cotangents of arguments that are not floats are ignored.
HALFTONE_API std::function<Value(const Values &)> custom_gradient(std::function<WithGradient(const Values &)> f);

// Values without operands.
/// Outside of a function being traced these are constants of a functional model. value_error for a shape with none: use
/// zeros_like(x). The dtype defaults to floatx; that of full() defaults to the dtype of a Value, and for a number to
/// int32 or floatx.
HALFTONE_API Value zeros(const Shape &shape, std::optional<DType> dtype = {});
HALFTONE_API Value ones(const Shape &shape, std::optional<DType> dtype = {});
HALFTONE_API Value full(const Shape &shape, const Operand &fill_value, std::optional<DType> dtype = {});
/// The half-open range [start, stop); arange(n) starts at 0. Integers give int32, other numbers floatx. Integers are
/// exact. value_error if the dtype cannot represent the first or the last element.
HALFTONE_API Value arange(const Number &start, const std::optional<Number> &stop = {},
                          const std::optional<Number> &step = {}, std::optional<DType> dtype = {});
/// `num` equidistant values, including stop unless `endpoint` is false. Integer dtypes round down.
HALFTONE_API Value linspace(double start, double stop, int64_t num = 50, bool endpoint = true,
                            std::optional<DType> dtype = {});
HALFTONE_API Value eye(int64_t N, std::optional<int64_t> M = {}, int64_t k = 0, std::optional<DType> dtype = {});
} // namespace ops

/// keras.activations: the functions of ops.
namespace activations {
using ops::celu, ops::elu, ops::gelu, ops::glu, ops::hard_shrink, ops::hard_sigmoid, ops::hard_silu, ops::hard_tanh,
    ops::leaky_relu, ops::log_sigmoid, ops::log_softmax, ops::mish, ops::relu, ops::relu6, ops::selu, ops::sigmoid,
    ops::silu, ops::soft_shrink, ops::softmax, ops::softplus, ops::softsign, ops::sparse_plus, ops::sparse_sigmoid,
    ops::sparsemax, ops::squareplus, ops::tanh, ops::tanh_shrink, ops::threshold;
} // namespace activations
} // namespace halftone
