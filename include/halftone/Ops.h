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
/// One integer or several, where Keras takes an int or a tuple.
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
using Axes = Integers; // of a reduction; empty: all

/// How split() cuts an axis: into so many equal sections, or before each of these indices.
class Sections {
public:
  template <detail::Whole I> Sections(I count) : count_(detail::whole(count, "the count of sections")) {}
  Sections(std::initializer_list<int64_t> indices) : indices_(indices) {}
  Sections(std::vector<int64_t> indices) : indices_(std::move(indices)) {}
  std::optional<int64_t> count() const { return count_; }
  const std::vector<int64_t> &indices() const { return indices_; }

private:
  std::optional<int64_t> count_;
  std::vector<int64_t> indices_;
};

/// Where a box begins: an index for each axis, which are numbers and integer scalars, or one integer Value (rank,).
class Starts {
public:
  Starts(std::initializer_list<Operand> each) : each_(each) {}
  Starts(const Shape &each) : each_(each.begin(), each.end()) {}
  explicit Starts(std::vector<Operand> each) : each_(std::move(each)) {}
  Starts(const Value &vector) : vector_(vector) {}
  const Value &vector() const { return vector_; } // undefined if there is an index for each axis
  const std::vector<Operand> &each() const { return each_; }

private:
  Value vector_{};
  std::vector<Operand> each_;
};

/// How many elements pad() adds before and behind each axis: pad(x, 1), pad(x, {1, 2}) for all axes alike,
/// pad(x, {{0, 0}, {2, 1}}) for each.
class PadWidth {
public:
  using Sides = std::pair<int64_t, int64_t>;
  template <detail::Whole I> PadWidth(I both) : PadWidth(both, both) {}
  template <detail::Whole I, detail::Whole J>
  PadWidth(I before, J after) : sides_{{detail::whole(before, "a width"), detail::whole(after, "a width")}} {}
  PadWidth(std::initializer_list<Sides> each) : sides_(each) {}
  explicit PadWidth(std::vector<Sides> each) : sides_(std::move(each)) {}
  const std::vector<Sides> &sides() const { return sides_; } // one, or one for each axis

private:
  std::vector<Sides> sides_;
};

namespace ops {
/// Lists of numbers have one for each spatial axis; a list of one serves all.
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
  std::optional<std::vector<int64_t>> strides = {}; // the pool's size
  Choice<Padding> padding = Padding::valid;
  Choice<DataFormat> data_format = DataFormat::channels_last;
};

struct DotProductAttentionArgs { // without Keras's flash_attention and attn_logits_soft_cap, which choose kernels
  Value bias{};                  // a float, added to the scores; it and the mask broadcast to (batch, n, t, s)
  Value mask{};                  // bool: false where a query does not see a key
  std::optional<double> scale{}; // 1 / sqrt(h) if not given
  bool is_causal = false;        // no query sees a key behind its own place
};

/// A value, and the cotangents of the arguments that it was computed from, as a function of its own.
struct WithGradient {
  Value value;
  std::function<Values(const Value &upstream)> gradient;
};

HALFTONE_API Value cast(const Value &x, DType dtype); // a rounding cast: never removed
/// As NumPy's: batch axes broadcast, a vector is a row on the left and a column on the right. int8 by int8 gives int32.
HALFTONE_API Value matmul(const Value &a, const Value &b);
HALFTONE_API Value add(const Operand &a, const Operand &b);
HALFTONE_API Value subtract(const Operand &a, const Operand &b);
HALFTONE_API Value multiply(const Operand &a, const Operand &b);
HALFTONE_API Value divide(const Operand &a, const Operand &b);        // integers are divided in floatx
HALFTONE_API Value divide_no_nan(const Operand &a, const Operand &b); // 0 where b is 0
HALFTONE_API Value power(const Operand &a, const Operand &b);         // integers stay integers and wrap
HALFTONE_API Value maximum(const Operand &a, const Operand &b);       // a tie shares the gradient
HALFTONE_API Value minimum(const Operand &a, const Operand &b);
/// A bound that is a float of C++ makes an integer x a float. A bound outside of an integer dtype's range on the side
/// where no element lies bounds nothing; on the other side it is a value_error. At a bound the gradient is half.
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
HALFTONE_API Value reciprocal(const Value &x); // of integers and bools in floatx
/// Python's `//` and `%`: the quotient rounded toward -inf, and the rest, with the sign of b. Integers by 0 give 0;
/// floats by 0 give a / 0 and NaN.
HALFTONE_API Value floor_divide(const Operand &a, const Operand &b); // gradient 0
HALFTONE_API Value mod(const Operand &a, const Operand &b);
/// sqrt(a^2 + b^2), which overflows only if the result does. Gradient NaN where both are 0.
HALFTONE_API Value hypot(const Operand &a, const Operand &b);
HALFTONE_API Value logaddexp(const Operand &a, const Operand &b); // log(e^a + e^b)
HALFTONE_API Value abs(const Value &x);
HALFTONE_API Value sign(const Value &x);
HALFTONE_API Value negative(const Value &x);
HALFTONE_API Value floor(const Value &x);
HALFTONE_API Value ceil(const Value &x);
HALFTONE_API Value trunc(const Value &x); // integers stay
HALFTONE_API Value round(const Value &x); // ties to even; integers stay
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
HALFTONE_API Value erfinv(const Value &x); // of integers and bools in floatx
HALFTONE_API Value relu(const Value &x);   // slope 0 at 0
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
/// Sums and products of integers are made in 32 bits at least, those of bools in int32.
HALFTONE_API Value sum(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value mean(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value max(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value min(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value prod(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value argmax(const Value &x, int64_t axis = -1); // int32, the first of equals
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
/// Integers, and bools as one bit: but for shifts, for which bools are int32. type_error for floats.
HALFTONE_API Value bitwise_and(const Operand &a, const Operand &b);
HALFTONE_API Value bitwise_or(const Operand &a, const Operand &b);
HALFTONE_API Value bitwise_xor(const Operand &a, const Operand &b);
HALFTONE_API Value bitwise_not(const Value &x);
HALFTONE_API Value bitwise_invert(const Value &x); // bitwise_not
/// A count below 0, or of the dtype's width and more, shifts all bits out.
HALFTONE_API Value left_shift(const Operand &a, const Operand &b);
HALFTONE_API Value right_shift(const Operand &a, const Operand &b); // signed integers keep their sign
HALFTONE_API Value bitwise_left_shift(const Operand &a, const Operand &b);
HALFTONE_API Value bitwise_right_shift(const Operand &a, const Operand &b);
HALFTONE_API Value isfinite(const Value &x);
HALFTONE_API Value isnan(const Value &x);
HALFTONE_API Value isinf(const Value &x);
/// x with other numbers for NaN and for the infinities, which become the dtype's largest and lowest numbers unless
/// `posinf` and `neginf` say otherwise. Integers stay. The gradient is 0 where a number was replaced.
HALFTONE_API Value nan_to_num(const Value &x, double nan = 0.0, std::optional<double> posinf = {},
                              std::optional<double> neginf = {});
HALFTONE_API Value reshape(const Value &x, const Shape &newshape); // one dimension may be -1 (none)
HALFTONE_API Value transpose(const Value &x, const std::vector<int64_t> &axes = {});
HALFTONE_API Value broadcast_to(const Value &x, const Shape &shape);
HALFTONE_API Value concatenate(const Values &xs, int64_t axis = -1);
/// The slices of x along `axis` at the given indices. An index below 0 reads slice 0, one past the end the last.
HALFTONE_API Value take(const Value &x, const Value &indices, int64_t axis = 0);
/// The elements of x along an axis at indices of x's rank, whose other axes broadcast with x's; without an axis, of x
/// flattened. An index below 0 counts from the end. One that is outside gives NaN, of signed integers the lowest, of
/// unsigned ones the largest, true.
HALFTONE_API Value take_along_axis(const Value &x, const Value &indices, std::optional<int64_t> axis = -1);
/// The part of x of this shape that begins at `start`; a dimension of -1 (none) goes to the end. value_error if a start that
/// consists of numbers lies outside. If Values are in it, a start below 0 counts from the end, and the part is moved until it
/// lies within x.
HALFTONE_API Value slice(const Value &x, const Starts &start, const Shape &shape);
/// x with the updates in place of the part that begins at `start`, which is moved until it lies within x.
HALFTONE_API Value slice_update(const Value &x, const Starts &start, const Value &updates);
HALFTONE_API Value expand_dims(const Value &x, int64_t axis);
HALFTONE_API Value squeeze(const Value &x, const Axes &axis = {});
HALFTONE_API Value one_hot(const Value &x, int64_t num_classes, DType dtype = float32);
HALFTONE_API Value size(const Value &x); // how many elements x has, an int32 scalar
HALFTONE_API Value zeros_like(const Value &x);
HALFTONE_API Value ones_like(const Value &x);
/// Of an integer x a fraction is cut off, as in Keras; value_error for a number outside of its dtype's range.
HALFTONE_API Value full_like(const Value &x, const Operand &value);
HALFTONE_API Value stop_gradient(const Value &x);
HALFTONE_API Value all_finite(const Values &xs); // one bool

// Statistics. Integers give floatx. Narrower floats are computed in float32, and the result is rounded once.
HALFTONE_API Value var(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value std(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value logsumexp(const Value &x, const Axes &axis = {}, bool keepdims = false);
/// The mean, or sum(x * weights) / sum(weights): weights have x's shape, or are a vector along the one axis.
HALFTONE_API Value average(const Value &x, const Axes &axis = {}, const Value &weights = {});
HALFTONE_API Value count_nonzero(const Value &x, const Axes &axis = {}); // int32
HALFTONE_API Value any(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value all(const Value &x, const Axes &axis = {}, bool keepdims = false);
HALFTONE_API Value squared_difference(const Operand &a, const Operand &b);
/// The sum of each element and those before it; without an axis, of x flattened. Bools count as int32; integers wrap.
HALFTONE_API Value cumsum(const Value &x, std::optional<int64_t> axis = {}, std::optional<DType> dtype = {});
HALFTONE_API Value cumprod(const Value &x, std::optional<int64_t> axis = {}, std::optional<DType> dtype = {});
/// In ascending order along an axis, or of x flattened (nullopt). Equal elements, as -0 and 0, keep their order; all NaN are
/// equal and come last. argsort gives the indices, int32.
HALFTONE_API Value sort(const Value &x, std::optional<int64_t> axis = -1);
HALFTONE_API Value argsort(const Value &x, std::optional<int64_t> axis = -1);
/// The k largest elements along the last axis in descending order, and their indices, int32. NaN are the largest; of equal
/// elements the first comes first. Without `sorted` the order is the same.
HALFTONE_API std::array<Value, 2> top_k(const Value &x, int64_t k, bool sorted = true);
/// Whether less than k of a row's predictions exceed that of the target, a class index; one below 0 counts from the end. The
/// prediction of a class that is not there, or NaN, is -inf.
HALFTONE_API Value in_top_k(const Value &targets, const Value &predictions, int64_t k);

// Places that integer Values name. An index below 0 counts from the end, and one that is outside is left out. Sums and
// products of narrower floats are made in float32 and rounded once.
/// Zeros of this shape with the values added at the places that indices (..., n) name by the first n axes.
HALFTONE_API Value scatter(const Value &indices, const Value &values, const Shape &shape);
/// The inputs with updates at indices (number, n): the last one of a place, or combined with the element there.
HALFTONE_API Value scatter_update(const Value &inputs, const Value &indices, const Value &updates,
                                  const std::optional<Choice<ScatterReduction>> &reduction = {});
/// The rows of data that have each number from 0 below num_segments, combined; ids below 0 are outside. A segment of none
/// is 0, 1, the lowest or the largest.
HALFTONE_API Value segment_sum(const Value &data, const Value &segment_ids, int64_t num_segments);
HALFTONE_API Value segment_prod(const Value &data, const Value &segment_ids, int64_t num_segments);
HALFTONE_API Value segment_max(const Value &data, const Value &segment_ids, int64_t num_segments);
HALFTONE_API Value segment_min(const Value &data, const Value &segment_ids, int64_t num_segments);
/// How often each number from 0 below minlength is in the last axis of x, or the sum of its weights; numbers below 0 count as
/// 0, and others are left out. int32, or the weights' dtype.
HALFTONE_API Value bincount(const Value &x, const Value &weights, int64_t minlength);
HALFTONE_API Value bincount(const Value &x, int64_t minlength);
/// Where the values stand in an ascending vector: int32. NaN is behind all numbers.
HALFTONE_API Value searchsorted(const Value &sorted_sequence, const Value &values,
                                const Choice<Side> &side = Side::left);

// Contractions. Unlike matmul, int8 by int8 gives int8, which wraps.
HALFTONE_API Value dot(const Value &a, const Value &b);
/// Contracts the last axes of a with the first of b, or pairs of axes.
HALFTONE_API Value tensordot(const Value &a, const Value &b, int64_t axes = 2);
HALFTONE_API Value tensordot(const Value &a, const Value &b, const Axes &a_axes, const Axes &b_axes);
HALFTONE_API Value outer(const Value &a, const Value &b);
/// The sum of products that the labels name: "bij,bjk->bik". One or more operands, multiplied from the left. A label of
/// several operands pairs their axes; one that is twice in an operand takes its diagonal; one that the output lacks is
/// summed over. "..." are the axes that an operand has besides its labels, which broadcast. Without "->" the output has
/// the "..." and, sorted, the labels that occur once. int8 operands alone give int32. value_error for an equation that
/// does not fit the operands.
HALFTONE_API Value einsum(std::string_view equation, const Values &operands);

// Elements joined, cut, repeated and put in another order.
HALFTONE_API Value stack(const Values &xs, int64_t axis = 0);
/// The slices along an axis. `num` is needed if the extent of the axis is none.
HALFTONE_API std::vector<Value> unstack(const Value &x, std::optional<int64_t> num = {}, int64_t axis = 0);
/// split(x, 3): three equal sections. split(x, {3}): the first three and the rest.
HALFTONE_API std::vector<Value> split(const Value &x, const Sections &indices_or_sections, int64_t axis = 0);
HALFTONE_API Value tile(const Value &x, const Integers &repeats); // of the last axes; new ones come first
HALFTONE_API Value repeat(const Value &x, int64_t repeats, std::optional<int64_t> axis = {}); // no axis: flattened
HALFTONE_API Value roll(const Value &x, const Integers &shift, const Axes &axis = {}); // no axis: as if flattened
HALFTONE_API Value flip(const Value &x, const Axes &axis = {});
HALFTONE_API Value swapaxes(const Value &x, int64_t axis1, int64_t axis2);
HALFTONE_API Value moveaxis(const Value &x, const Axes &source, const Axes &destination);
HALFTONE_API Value tril(const Value &x, int64_t k = 0); // 0 above the k-th diagonal of the last two axes
HALFTONE_API Value triu(const Value &x, int64_t k = 0);
struct PadArgs {
  Choice<PadMode> mode = PadMode::constant;
  std::optional<Operand> constant_values = {}; // 0; one number or scalar, of the mode `constant` alone
};
HALFTONE_API Value pad(const Value &x, const PadWidth &pad_width, const PadArgs &args = {});
/// Of two axes, the elements whose index along axis2 is that along axis1 plus the offset, as the last axis.
HALFTONE_API Value diagonal(const Value &x, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
/// Each vector along an axis of its own, repeated along those of the others.
HALFTONE_API std::vector<Value> meshgrid(const Values &xs, const Choice<GridIndexing> &indexing = GridIndexing::xy);

// Convolutions and pooling over one to three spatial axes. value_error for shapes and arguments that do not fit.
/// The kernel has the shape (k..., channels / groups, filters): how many groups there are follows from the channels.
HALFTONE_API Value conv(const Value &inputs, const Value &kernel, const ConvArgs &args = {});
/// The kernel has the shape (k..., channels, multiplier).
HALFTONE_API Value depthwise_conv(const Value &inputs, const Value &kernel, const ConvArgs &args = {});
/// A depthwise convolution, then one of extent 1 with the pointwise kernel.
HALFTONE_API Value separable_conv(const Value &inputs, const Value &depthwise_kernel, const Value &pointwise_kernel,
                                  const ConvArgs &args = {});
/// The gradient of a convolution by its inputs, used forward. The kernel has the shape (k..., filters, channels).
HALFTONE_API Value conv_transpose(const Value &inputs, const Value &kernel, const ConvTransposeArgs &args = {});
/// NaN wins. The gradient goes to the first of equals.
HALFTONE_API Value max_pool(const Value &inputs, const std::vector<int64_t> &pool_size, const PoolArgs &args = {});
/// The mean of the elements that lie inside. Integers give floatx.
HALFTONE_API Value average_pool(const Value &inputs, const std::vector<int64_t> &pool_size, const PoolArgs &args = {});

/// query (batch, t, n, h), key (batch, s, m, h), value (batch, s, m, e): (batch, t, n, e), where n is a multiple of m and
/// neighbouring heads of the query share a head of the others. The weights are the softmax, in float32 at least, of
/// query . key * scale + bias; a query that sees no key gets the mean of the values. value_error for shapes that do not
/// fit.
HALFTONE_API Value dot_product_attention(const Value &query, const Value &key, const Value &value,
                                         const DotProductAttentionArgs &args = {});

/// A function whose gradient is the one that `f` gives beside the value: one cotangent for each argument, of its shape
/// and dtype. Those of arguments that are no floats are not used.
HALFTONE_API std::function<Value(const Values &)> custom_gradient(std::function<WithGradient(const Values &)> f);

// Values without operands.
/// Outside of a function being traced these are constants of a functional model. A shape with none is a value_error:
/// zeros_like(x). dtype: floatx if it is not given; of full() the dtype of a Value, else int32 or floatx.
HALFTONE_API Value zeros(const Shape &shape, std::optional<DType> dtype = {});
HALFTONE_API Value ones(const Shape &shape, std::optional<DType> dtype = {});
HALFTONE_API Value full(const Shape &shape, const Operand &fill_value, std::optional<DType> dtype = {});
/// Up to, not including, stop; arange(n) begins at 0. Whole numbers give int32, others floatx. Integers are exact.
/// value_error if the dtype does not hold the first or the last.
HALFTONE_API Value arange(const Number &start, const std::optional<Number> &stop = {},
                          const std::optional<Number> &step = {}, std::optional<DType> dtype = {});
/// `num` values at equal distances, the last of which is stop unless `endpoint` is false. Integers round down.
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
