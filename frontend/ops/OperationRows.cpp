// Calls of operations in files with their recorded arguments.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/OperationRows.h"
#include "frontend/graph/Graph.h"
#include "frontend/ops/GetItem.h"
#include "frontend/ops/Operations.h"
#include "halftone/Arguments.h"
#include "halftone/Error.h"
#include "halftone/Linalg.h"
#include "halftone/Policy.h"
#include "runtime/base/Number.h"
#include <algorithm>
#include <climits>
#include <cmath>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

using Arguments = OperationArguments;

template <Value (*f)(const Value &)> Values unary(Arguments &a) { return f(a.value("x")); }
template <Value (*f)(const Operand &, const Operand &)> Values binary(Arguments &a) {
  const Operand x1 = a.operand("x1"), x2 = a.operand("x2");
  return f(x1, x2);
}
template <Value (*f)(const Operand &, const Operand &)> Values bitwise(Arguments &a) { // operands have other names
  const Operand x = a.operand("x"), y = a.operand("y");
  return f(x, y);
}
template <Value (*f)(const Value &, const Value &)> Values binaryOfValues(Arguments &a) {
  const Value x1 = a.value("x1"), x2 = a.value("x2");
  return f(x1, x2);
}
template <Value (*f)(const Value &, const Axes &, bool)> Values reduction(Arguments &a) {
  const Value x = a.value("x");
  const Axes axis(a.integers("axis"));
  return f(x, axis, a.flag("keepdims"));
}
template <Value (*f)(const Value &, int64_t)> Values alongAxis(Arguments &a) {
  const Value x = a.value("x");
  return f(x, a.integer("axis", -1));
}
template <Value (*f)(const Value &, const Axes &)> Values alongAxes(Arguments &a) {
  const Value x = a.value("x");
  return f(x, Axes(a.integers("axis")));
}
template <Value (*f)(const Value &, int64_t)> Values argReduction(Arguments &a) {
  const Value x = a.value("x");
  const int64_t axis = a.integer("axis");
  const Value found = f(x, axis);
  return a.flag("keepdims") ? ops::expand_dims(found, axis) : found;
}
Values reshape(Arguments &a) {
  const Value x = a.value("x");
  return ops::reshape(x, Shape(a.integers("newshape")));
}
Values transpose(Arguments &a) {
  const Value x = a.value("x");
  return ops::transpose(x, a.integers("axes"));
}
Values concatenate(Arguments &a) {
  const std::vector<Value> xs = a.values("xs");
  return ops::concatenate(xs, a.integer("axis", -1));
}
Values stack(Arguments &a) {
  const std::vector<Value> x = a.values("x");
  return ops::stack(x, a.integer("axis", 0));
}
Values split(Arguments &a) {
  const Value x = a.value("x");
  const int64_t axis = a.integer("axis", 0);
  if (a.isList("indices_or_sections"))
    return ops::split(x, Sections(a.integers("indices_or_sections")), axis);
  const int64_t count = a.integer("indices_or_sections");
  return ops::split(x, Sections(count), axis);
}
Values repeat(Arguments &a) {
  const Value x = a.value("x");
  const int64_t repeats = a.integer("repeats");
  return ops::repeat(x, repeats, a.maybeInteger("axis"));
}
Values tile(Arguments &a) {
  const Value x = a.value("x");
  return ops::tile(x, Integers(a.integers("repeats")));
}
Values swapAxes(Arguments &a) {
  const Value x = a.value("x");
  const int64_t first = a.integer("axis1");
  return ops::swapaxes(x, first, a.integer("axis2"));
}
Values moveAxis(Arguments &a) {
  const Value x = a.value("x");
  const Axes source(a.integers("source"));
  return ops::moveaxis(x, source, Axes(a.integers("destination")));
}
template <Value (*f)(const Value &, std::optional<int64_t>, std::optional<DType>)> Values cumulative(Arguments &a) {
  const Value x = a.value("x");
  const std::optional<int64_t> axis = a.maybeInteger("axis");
  return f(x, axis, a.isNull("dtype") ? std::nullopt : std::optional(standardize_dtype(a.text("dtype"))));
}
template <Value (*f)(const Value &, std::optional<int64_t>)> Values sorting(Arguments &a) {
  const Value x = a.value("x");
  return f(x, a.maybeInteger("axis"));
}
Values topK(Arguments &a) {
  const Value x = a.value("x");
  const int64_t k = a.integer("k");
  const auto [values, indices] = ops::top_k(x, k, a.flag("sorted"));
  return {values, indices};
}
Values inTopK(Arguments &a) {
  const Value targets = a.value("targets"), predictions = a.value("predictions");
  return ops::in_top_k(targets, predictions, a.integer("k"));
}
Values castTo(Arguments &a) {
  const Value x = a.value("x");
  return ops::cast(x, standardize_dtype(a.text("dtype")));
}
/// Keras inserts it between the mask of an Embedding and the layer that takes the mask.
Values convertToTensor(Arguments &a) {
  const Value x = a.value("x");
  const bool isDense = !a.flag("sparse") && !a.flag("ragged");
  if (!isDense)
    throw Error(ErrorKind::not_implemented_error, "the operation ConvertToTensor returns a sparse or ragged tensor");
  return a.isNull("dtype") ? x : ops::cast(x, standardize_dtype(a.text("dtype")));
}
Values clip(Arguments &a) {
  const Value x = a.value("x");
  const Number least = a.exactNumber("x_min");
  return ops::clip(x, least, a.exactNumber("x_max"));
}
Values where(Arguments &a) {
  const Value condition = a.value("condition");
  const Operand x1 = a.operand("x1"), x2 = a.operand("x2");
  return ops::where(condition, x1, x2);
}
Values einsum(Arguments &a) {
  const std::string subscripts = a.text("subscripts");
  return ops::einsum(subscripts, a.rest());
}
Values oneHot(Arguments &a) {
  const Value x = a.value("inputs");
  const int64_t classes = a.integer("num_classes");
  if (a.integer("axis", -1) != -1 || a.flag("sparse"))
    throw Error(ErrorKind::not_implemented_error, "the operation OneHot has an axis other than the last, or is sparse");
  return ops::one_hot(x, classes);
}
Values round(Arguments &a) {
  const Value x = a.value("x");
  if (a.integer("decimals", 0) != 0)
    throw Error(ErrorKind::not_implemented_error, "the operation Round has `decimals` other than 0");
  return ops::round(x);
}
Values leakyRelu(Arguments &a) {
  const Value x = a.value("x");
  return ops::leaky_relu(x, a.number("negative_slope", 0.2));
}
Values elu(Arguments &a) {
  const Value x = a.value("x");
  return ops::elu(x, a.number("alpha", 1.0));
}
Values gelu(Arguments &a) {
  const Value x = a.value("x");
  return ops::gelu(x, a.flag("approximate"));
}
Values celu(Arguments &a) {
  const Value x = a.value("x");
  return ops::celu(x, a.number("alpha", 1.0));
}
Values squareplus(Arguments &a) {
  const Value x = a.value("x");
  return ops::squareplus(x, a.number("b", 4.0));
}
template <Value (*f)(const Value &, double)> Values shrink(Arguments &a) {
  const Value x = a.value("x");
  return f(x, a.number("threshold", 0.5));
}
Values threshold(Arguments &a) {
  const Value x = a.value("x");
  const double threshold = a.number("threshold");
  return ops::threshold(x, threshold, a.number("default_value"));
}
template <Value (*f)(const Value &, int64_t)> Values triangle(Arguments &a) {
  const Value x = a.value("x");
  return f(x, a.integer("k", 0));
}
Values roll(Arguments &a) {
  const Value x = a.value("x");
  const Integers shift(a.integers("shift"));
  return ops::roll(x, shift, Axes(a.integers("axis")));
}
Values ravel(Arguments &a) { return ops::reshape(a.value("x"), {-1}); }
Values average(Arguments &a) {
  const Value x = a.value("x");
  const Axes axis(a.integers("axis"));
  return a.hasMore() ? ops::average(x, axis, a.value("weights")) : ops::average(x, axis);
}
Values countNonzero(Arguments &a) {
  const Value x = a.value("x");
  return ops::count_nonzero(x, Axes(a.integers("axis")));
}
Values take(Arguments &a) {
  const Value x = a.value("x"), indices = a.value("indices");
  const std::optional<int64_t> axis = a.maybeInteger("axis");
  return axis ? ops::take(x, indices, *axis) : ops::take(ops::reshape(x, {-1}), indices);
}
Values getItemOf(Arguments &a) {
  const Value x = a.value("x");
  return getItem(x, keyOf(a.literal("key")));
}
ValueSpec getItemSpec(Arguments &a) {
  const Value x = a.value("x");
  return {rangesOf(keyOf(a.literal("key")), x).result(), x.dtype()};
}
Values fullLike(Arguments &a) {
  const Value x = a.value("x");
  return ops::full_like(x, a.operand("fill_value"));
}
Values copy(Arguments &a) { return a.value("x"); }
Values stopGradient(Arguments &a) { return ops::stop_gradient(a.value("variable")); }

constexpr const char *numpy = "keras.src.ops.numpy", *nn = "keras.src.ops.nn", *math = "keras.src.ops.math",
                     *image = "keras.src.ops.image", *core = "keras.src.ops.core", *linear = "keras.src.ops.linalg";
constexpr Operation rows[] = {
    {"add", "Add", numpy, binary<ops::add>},
    {"sub", "Subtract", numpy, binary<ops::subtract>},
    {"mul", "Multiply", numpy, binary<ops::multiply>},
    {"div", "Divide", numpy, binary<ops::divide>},
    {"div", "TrueDivide", numpy, binary<ops::divide>}, // older files have it
    {"pow", "Power", numpy, binary<ops::power>},
    {"atan2", "Arctan2", numpy, binary<ops::arctan2>},
    {"hypot", "Hypot", numpy, binary<ops::hypot>},
    {"logaddexp", "Logaddexp", numpy, binary<ops::logaddexp>},
    {"", "Outer", numpy, binaryOfValues<ops::outer>},
    {"maximum", "Maximum", numpy, binary<ops::maximum>},
    {"minimum", "Minimum", numpy, binary<ops::minimum>},
    {"matmul", "Matmul", numpy, binaryOfValues<ops::matmul>},
    {"dot", "Dot", numpy, binaryOfValues<ops::dot>},
    {"mod", "Mod", numpy, binary<ops::mod>},
    {"floor_divide", "FloorDivide", numpy, binary<ops::floor_divide>},
    {"equal", "Equal", numpy, binary<ops::equal>},
    {"not_equal", "NotEqual", numpy, binary<ops::not_equal>},
    {"less", "Less", numpy, binary<ops::less>},
    {"less_equal", "LessEqual", numpy, binary<ops::less_equal>},
    {"greater", "Greater", numpy, binary<ops::greater>},
    {"greater_equal", "GreaterEqual", numpy, binary<ops::greater_equal>},
    {"and", "LogicalAnd", numpy, binary<ops::logical_and>},
    {"or", "LogicalOr", numpy, binary<ops::logical_or>},
    {"xor", "LogicalXor", numpy, binary<ops::logical_xor>},
    {"divide_no_nan", "DivideNoNan", numpy, binary<ops::divide_no_nan>},
    {"bitwise_and", "BitwiseAnd", numpy, bitwise<ops::bitwise_and>},
    {"bitwise_or", "BitwiseOr", numpy, bitwise<ops::bitwise_or>},
    {"bitwise_xor", "BitwiseXor", numpy, bitwise<ops::bitwise_xor>},
    {"bitwise_not", "BitwiseNot", numpy, unary<ops::bitwise_not>},
    {"", "BitwiseInvert", numpy, unary<ops::bitwise_not>},
    {"left_shift", "LeftShift", numpy, bitwise<ops::left_shift>},
    {"", "BitwiseLeftShift", numpy, bitwise<ops::left_shift>},
    {"right_shift", "RightShift", numpy, bitwise<ops::right_shift>},
    {"", "BitwiseRightShift", numpy, bitwise<ops::right_shift>},
    {"not", "LogicalNot", numpy, unary<ops::logical_not>},
    {"sum", "Sum", numpy, reduction<ops::sum>},
    {"mean", "Mean", numpy, reduction<ops::mean>},
    {"max", "Max", numpy, reduction<ops::max>},
    {"min", "Min", numpy, reduction<ops::min>},
    {"prod", "Prod", numpy, reduction<ops::prod>},
    {"", "Amax", numpy, reduction<ops::max>},
    {"", "Amin", numpy, reduction<ops::min>},
    {"", "Average", numpy, average},
    {"count_nonzero", "CountNonzero", numpy, countNonzero},
    {"any", "Any", numpy, reduction<ops::any>},
    {"all", "All", numpy, reduction<ops::all>},
    {"var", "Var", numpy, reduction<ops::var>},
    {"std", "Std", numpy, reduction<ops::std>},
    {"logsumexp", "Logsumexp", math, reduction<ops::logsumexp>},
    {"", "Argmax", numpy, argReduction<ops::argmax>},
    {"", "Argmin", numpy, argReduction<ops::argmin>},
    {"abs", "Absolute", numpy, unary<ops::abs>},
    {"neg", "Negative", numpy, unary<ops::negative>},
    {"sign", "Sign", numpy, unary<ops::sign>},
    {"floor", "Floor", numpy, unary<ops::floor>},
    {"ceil", "Ceil", numpy, unary<ops::ceil>},
    {"", "Round", numpy, round},
    {"square", "Square", numpy, unary<ops::square>},
    {"sqrt", "Sqrt", numpy, unary<ops::sqrt>},
    {"rsqrt", "Rsqrt", math, unary<ops::rsqrt>},
    {"reciprocal", "Reciprocal", numpy, unary<ops::reciprocal>},
    {"exp", "Exp", numpy, unary<ops::exp>},
    {"expm1", "Expm1", numpy, unary<ops::expm1>},
    {"log", "Log", numpy, unary<ops::log>},
    {"log1p", "Log1p", numpy, unary<ops::log1p>},
    {"exp2", "Exp2", numpy, unary<ops::exp2>},
    {"log2", "Log2", numpy, unary<ops::log2>},
    {"log10", "Log10", numpy, unary<ops::log10>},
    {"cbrt", "Cbrt", numpy, unary<ops::cbrt>},
    {"sin", "Sin", numpy, unary<ops::sin>},
    {"cos", "Cos", numpy, unary<ops::cos>},
    {"tan", "Tan", numpy, unary<ops::tan>},
    {"asin", "Arcsin", numpy, unary<ops::arcsin>},
    {"acos", "Arccos", numpy, unary<ops::arccos>},
    {"atan", "Arctan", numpy, unary<ops::arctan>},
    {"sinh", "Sinh", numpy, unary<ops::sinh>},
    {"cosh", "Cosh", numpy, unary<ops::cosh>},
    {"asinh", "Arcsinh", numpy, unary<ops::arcsinh>},
    {"acosh", "Arccosh", numpy, unary<ops::arccosh>},
    {"atanh", "Arctanh", numpy, unary<ops::arctanh>},
    {"trunc", "Trunc", numpy, unary<ops::trunc>},
    {"tanh", "Tanh", numpy, unary<ops::tanh>},
    {"erf", "Erf", math, unary<ops::erf>},
    {"erfinv", "Erfinv", math, unary<ops::erfinv>},
    {"isfinite", "Isfinite", numpy, unary<ops::isfinite>},
    {"isnan", "Isnan", numpy, unary<ops::isnan>},
    {"isinf", "Isinf", numpy, unary<ops::isinf>},
    {"logistic", "Sigmoid", nn, unary<ops::sigmoid>},
    {"relu", "Relu", nn, unary<ops::relu>},
    {"", "Relu6", nn, unary<ops::relu6>},
    {"", "Selu", nn, unary<ops::selu>},
    {"", "Silu", nn, unary<ops::silu>},
    {"", "Softplus", nn, unary<ops::softplus>},
    {"", "Softsign", nn, unary<ops::softsign>},
    {"", "HardSigmoid", nn, unary<ops::hard_sigmoid>},
    {"", "HardSilu", nn, unary<ops::hard_silu>},
    {"", "HardTanh", nn, unary<ops::hard_tanh>},
    {"", "LogSigmoid", nn, unary<ops::log_sigmoid>},
    {"", "LeakyRelu", nn, leakyRelu},
    {"", "Elu", nn, elu},
    {"", "Celu", nn, celu},
    {"", "Squareplus", nn, squareplus},
    {"", "SparsePlus", nn, unary<ops::sparse_plus>},
    {"", "SparseSigmoid", nn, unary<ops::sparse_sigmoid>},
    {"", "TanhShrink", nn, unary<ops::tanh_shrink>},
    {"", "HardShrink", nn, shrink<ops::hard_shrink>},
    {"", "SoftShrink", nn, shrink<ops::soft_shrink>},
    {"", "Glu", nn, alongAxis<ops::glu>},
    {"", "Sparsemax", nn, alongAxis<ops::sparsemax>},
    {"", "Threshold", nn, threshold},
    {"", "Gelu", nn, gelu},
    {"", "Softmax", nn, alongAxis<ops::softmax>},
    {"", "LogSoftmax", nn, alongAxis<ops::log_softmax>},
    {"", "OneHot", nn, oneHot},
    {"", "Conv", nn, convOperation},
    {"", "DepthwiseConv", nn, depthwiseConvOperation},
    {"", "SeparableConv", nn, separableConvOperation},
    {"", "ConvTranspose", nn, convTransposeOperation},
    {"", "MaxPool", nn, maxPoolOperation},
    {"", "AveragePool", nn, averagePoolOperation},
    {"", "Normalize", nn, normalizeOperation},
    {"", "Moments", nn, momentsOperation},
    {"", "BatchNorm", nn, batchNormOperation},
    {"", "RMSNorm", nn, rmsNormOperation},
    {"", "LayerNorm", nn, layerNormOperation},
    {"", "DotProductAttention", nn, attentionOperation},
    {"", "Cast", core, castTo},
    {"", "ConvertToTensor", core, convertToTensor},
    {"stop_gradient", "StopGradient", core, stopGradient},
    {"", "Clip", numpy, clip},
    {"where", "Where", numpy, where},
    {"einsum", "Einsum", numpy, einsum},
    {"", "GetItem", numpy, getItemOf, getItemSpec},
    {"", "Reshape", numpy, reshape},
    {"", "Transpose", numpy, transpose},
    {"", "Concatenate", numpy, concatenate},
    {"", "Stack", numpy, stack},
    {"", "Split", numpy, split},
    {"", "ExpandDims", numpy, alongAxis<ops::expand_dims>},
    {"", "Squeeze", numpy, alongAxes<ops::squeeze>},
    {"flip", "Flip", numpy, alongAxes<ops::flip>},
    {"repeat", "Repeat", numpy, repeat},
    {"tile", "Tile", numpy, tile},
    {"", "Pad", numpy, padOperation},
    {"", "Resize", image, resizeOperation},
    {"", "AffineTransform", image, affineTransformOperation, affineTransformSpec},
    {"", "PerspectiveTransform", image, perspectiveTransformOperation, perspectiveTransformSpec},
    {"", "MapCoordinates", image, mapCoordinatesOperation},
    {"", "ExtractPatches", image, extractPatchesOperation},
    {"", "CropImages", image, cropImagesOperation},
    {"", "PadImages", image, padImagesOperation},
    {"", "RGBToGrayscale", image, grayscaleOperation},
    {"swapaxes", "Swapaxes", numpy, swapAxes},
    {"moveaxis", "Moveaxis", numpy, moveAxis},
    {"roll", "Roll", numpy, roll},
    {"tril", "Tril", numpy, triangle<ops::tril>},
    {"triu", "Triu", numpy, triangle<ops::triu>},
    {"", "Ravel", numpy, ravel},
    {"", "Take", numpy, take},
    {"", "Cumsum", numpy, cumulative<ops::cumsum>},
    {"", "Cumprod", numpy, cumulative<ops::cumprod>},
    {"", "TakeAlongAxis", numpy, takeAlongAxisOperation},
    {"", "Slice", core, sliceOperation},
    {"", "SliceUpdate", core, sliceUpdateOperation},
    {"", "Scatter", core, scatterOperation, scatterSpec},
    {"", "ScatterUpdate", core, scatterUpdateOperation, scatterUpdateSpec},
    {"", "SegmentSum", math, segmentOperation<ops::segment_sum>, segmentSpec},
    {"", "SegmentMax", math, segmentOperation<ops::segment_max>, segmentSpec},
    {"", "SegmentMin", math, segmentOperation<ops::segment_min>, segmentSpec},
    {"", "SegmentProd", math, segmentOperation<ops::segment_prod>, segmentSpec},
    {"", "SearchSorted", numpy, searchSortedOperation},
    {"", "Bincount", numpy, bincountOperation},
    {"", "Diagonal", numpy, diagonalOperation},
    {"", "Meshgrid", numpy, meshgridOperation},
    {"", "Size", numpy, unary<ops::size>},
    {"", "Copy", numpy, copy},
    {"", "Sort", numpy, sorting<ops::sort>},
    {"", "Argsort", numpy, sorting<ops::argsort>},
    {"", "TopK", math, topK},
    {"", "InTopK", math, inTopK},
    {"", "Cholesky", linear, choleskyOperation<ops::cholesky>},
    {"", "CholeskyInverse", linear, choleskyOperation<ops::cholesky_inverse>},
    {"", "Det", linear, unary<ops::det>},
    {"", "Eigh", linear, eighOperation},
    {"", "Inv", linear, unary<ops::inv>},
    {"", "Logdet", math, unary<ops::logdet>},
    {"", "Lstsq", linear, lstsqOperation},
    {"", "LuFactor", linear, luFactorOperation},
    {"", "MatrixRank", linear, matrixRankOperation},
    {"", "Norm", linear, normOperation},
    {"", "Pinv", linear, pinvOperation},
    {"", "Qr", linear, qrOperation},
    {"", "Slogdet", numpy, slogdetOperation},
    {"", "Solve", linear, solveOperation},
    {"", "SolveTriangular", linear, solveTriangularOperation},
    {"", "SVD", linear, svdOperation},
    {"", "FFT", math, fftOperation},
    {"", "FFT2", math, fft2Operation},
    {"", "IFFT2", math, ifft2Operation},
    {"", "RFFT", math, rfftOperation},
    {"", "IRFFT", math, irfftOperation},
    {"", "ExtractSequences", math, extractSequencesOperation},
    {"", "STFT", math, stftOperation},
    {"", "ISTFT", math, istftOperation},
    {"full_like", "FullLike", numpy, fullLike},
    {"", "ZerosLike", numpy, unary<ops::zeros_like>},
    {"", "OnesLike", numpy, unary<ops::ones_like>},
};

} // namespace

std::span<const Operation> operationRows() { return rows; }

} // namespace halftone::detail
