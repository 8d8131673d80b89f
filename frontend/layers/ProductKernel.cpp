// Builds, quantizes and applies kernels.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/ProductKernel.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/InitialZeros.h"
#include "frontend/layers/LayerImpl.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <numeric>

namespace halftone::detail {

namespace {

int64_t historyLengthOf(const DTypePolicy &policy) {
  const Config config = policy.get_config();
  return config.contains("amax_history_length") ? config.get_int("amax_history_length")
                                                : QuantizedFloat8DTypePolicy::default_amax_history_length;
}

Value transposed(const Value &x, const std::vector<int64_t> &permutation) {
  return std::ranges::is_sorted(permutation) ? x : ops::transpose(x, permutation);
}

} // namespace

Variable fixedWeight(BuildContext &context, const std::string &name, const Tensor &value) {
  const Variable made = context.add_weight(
      {.shape = value.shape(), .initializer = "zeros", .dtype = value.dtype(), .trainable = false, .name = name});
  made.assign(value);
  made.impl()->role = VariableRole::weight; // not a state that steps write, so packed copies may be cached
  return made;
}

Variable replacedWeight(BuildContext &context, const Variable &old, const Tensor &value) {
  Variable made = fixedWeight(context, old.name(), value);
  std::vector<Variable> &weights = context.layer().weights;
  weights.pop_back();
  std::ranges::replace_if(weights, [&](const Variable &weight) { return weight.impl() == old.impl(); }, made);
  return made;
}

int64_t ProductKernel::rowCount() const {
  int64_t rows = 1;
  for (const int64_t axis : form_.labels.reducedAxes(form_.labels.kernel))
    rows = extentProduct(rows, form_.kernelShape[axis]);
  return rows;
}

int64_t ProductKernel::columnCount() const {
  int64_t columns = 1;
  for (const int64_t axis : form_.labels.keptAxes(form_.labels.kernel))
    columns = extentProduct(columns, form_.kernelShape[axis]);
  return columns;
}

/// The kernel as a matrix with one column per output. int4 keeps the kernel's own element order.
MatrixView ProductKernel::view() const {
  if (config_.mode == "int4")
    return MatrixView::of({rowCount(), columnCount()}, {0}, {1});
  return MatrixView::of(form_.kernelShape, form_.labels.reducedAxes(form_.labels.kernel),
                        form_.labels.keptAxes(form_.labels.kernel));
}

Shape ProductKernel::scaleShape() const {
  if (isGrouped())
    return {(rowCount() + config_.block_size - 1) / config_.block_size, columnCount()};
  if (config_.mode == "int4" || form_.isMatrix)
    return {columnCount()};
  const EinsumLabels labels = form_.labels.expanded(form_.inputRank);
  std::vector<int64_t> dims;
  for (const char label : labels.output) {
    const size_t position = labels.kernel.find(label);
    dims.push_back(position == std::string::npos ? 1 : form_.kernelShape[static_cast<int64_t>(position)]);
  }
  return Shape(dims);
}

void ProductKernel::build(BuildContext &context, const ProductForm &form, const WeightArgs &kernel,
                          const std::optional<WeightArgs> &bias, const QuantizationConfig &config) {
  form_ = form;
  config_ = config;
  const bool isCalibrated = config.mode == "gptq" || config.mode == "awq";
  if (!isCalibrated)
    addKernel(context, kernel);
  if (bias)
    bias_ = context.add_weight(*bias);
  if (isCalibrated)
    calibrated_.build(context, context.layer().resolvedPolicy().get_config().get_string("mode"), form.kernelShape);
  else
    addScales(context);
}

bool ProductKernel::dequantize(BuildContext &context, const WeightArgs &kernel) {
  if (!calibrated_.isThere())
    return false;
  std::vector<Variable> &weights = context.layer().weights;
  for (const Variable &old : calibrated_.variables())
    std::erase_if(weights, [&](const Variable &each) { return each.impl() == old.impl(); });
  kernel_ = context.add_weight(kernel);
  kernel_.assign(calibrated_.floats());
  std::ranges::rotate(weights, weights.end() - 1); // the kernel before the bias
  calibrated_ = {};
  config_ = {};
  return true;
}

void ProductKernel::addKernel(BuildContext &context, const WeightArgs &kernel) {
  if (config_.mode != "int8" && config_.mode != "int4") {
    kernel_ = context.add_weight(kernel);
    return;
  }
  const Shape stored = config_.mode == "int8" ? form_.kernelShape : Shape{rowCount(), (columnCount() + 1) / 2};
  kernel_ = fixedWeight(context, kernel.name, Tensor::zeros(stored, DType::int8));
}

void ProductKernel::addScales(BuildContext &context) {
  if (config_.mode == "float8")
    return addFloat8States(context);
  if (!config_.defined())
    return;
  const Shape scale = scaleShape();
  scale_ = fixedWeight(context, "kernel_scale", Tensor::ones(scale, context.variable_dtype()));
  if (!isGrouped())
    return;
  zero_ = fixedWeight(context, "kernel_zero", Tensor::zeros(scale, DType::int8));
  groups_ = fixedWeight(context, "g_idx", groupNumbers(rowCount(), config_.block_size));
}

void ProductKernel::addFloat8States(BuildContext &context) {
  const int64_t length = historyLengthOf(context.layer().resolvedPolicy());
  const auto add = [&](const std::string &name, const Shape &shape, const char *initializer) {
    return context.add_weight({.shape = shape,
                               .initializer = initializer,
                               .dtype = DType::float32,
                               .autocast = false,
                               .overwrite_with_gradient = true,
                               .name = name});
  };
  const auto addState = [&](Float8State &state, const std::string &name) {
    state.scale = add(name + "_scale", {}, "ones");
    state.history = add(name + "_amax_history", {length}, "zeros");
  };
  addState(input_, "inputs");
  addState(weight_, "kernel");
  addState(gradient_, "outputs_grad");
}

/// Quantizes a kernel to the integers and scales that the variables hold.
QuantizedWeights ProductKernel::integersOf(const Tensor &floats) const {
  QuantizedWeights weights = config_.mode == "int8" ? absMaxQuantized(floats, view(), -127, 127)
                             : isGrouped()          ? groupQuantized(floats, view(), config_.block_size)
                                                    : absMaxQuantized(floats, view(), -8, 7);
  if (config_.mode == "int4")
    weights.values = packedInt4(weights.values.reshape({rowCount(), columnCount()}));
  weights.scale = weights.scale.reshape(scaleShape());
  return weights;
}

/// The dequantized kernel.
Tensor ProductKernel::floatsOf(const WeightValues &values) const {
  Tensor kernel = values.at(kernel_.impl().get());
  if (!scale_.defined())
    return kernel;
  QuantizedWeights weights{.values = kernel, .scale = values.at(scale_.impl().get())};
  if (config_.mode == "int4")
    weights.values = unpackedInt4(kernel, columnCount());
  if (isGrouped())
    weights.zero = values.at(zero_.impl().get());
  return dequantized(weights, view(), config_.block_size).reshape(form_.kernelShape);
}

void ProductKernel::merge(WeightValues &values) const {
  const auto put = [&](const Variable &variable, const Tensor &value) {
    values.at(variable.impl().get()) = value.astype(variable.dtype());
  };
  const Tensor merged = delta_.addedTo(floatsOf(values), values);
  if (!scale_.defined())
    return put(kernel_, merged);
  const QuantizedWeights weights = integersOf(merged);
  put(kernel_, weights.values);
  put(scale_, weights.scale);
  if (isGrouped())
    put(zero_, weights.zero);
}

void ProductKernel::quantize(BuildContext &context, const QuantizationConfig &config) {
  ProductKernel made = *this;
  made.config_ = config;
  if (config.mode == "float8") {
    made.addFloat8States(context);
  } else {
    const QuantizedWeights weights = made.integersOf(kernel_.value());
    made.kernel_ = replacedWeight(context, kernel_, weights.values);
    // A newly assigned policy may have another dtype than the kernel.
    made.scale_ = fixedWeight(context, "kernel_scale", weights.scale.astype(context.variable_dtype()));
    if (made.isGrouped()) {
      made.zero_ = fixedWeight(context, "kernel_zero", weights.zero);
      made.groups_ = fixedWeight(context, "g_idx", groupNumbers(rowCount(), config.block_size));
    }
  }
  *this = made;
}

Value ProductKernel::product(const Value &x, const Value &kernel) const {
  if (form_.isMatrix)
    return ops::matmul(x, kernel);
  return ops::einsum(form_.labels.expanded(x.rank()).equation(), {x, kernel});
}

Value ProductKernel::inputGradient(const Value &upstream, const Value &kernel, int64_t inputRank) const {
  if (form_.isMatrix)
    return ops::matmul(upstream, ops::transpose(kernel));
  return ops::einsum(form_.labels.expanded(inputRank).inputGradientEquation(), {upstream, kernel});
}

/// Reshapes the scale of an input, which has extent 1 for the summed axes, to the axes of the output.
Value ProductKernel::asOutput(const Value &scale, const EinsumLabels &labels) const {
  if (form_.isMatrix)
    return scale;
  std::vector<int64_t> order = labels.keptAxes(labels.input), dims;
  for (const char label : labels.output) {
    const size_t position = labels.input.find(label);
    dims.push_back(position == std::string::npos ? 1 : scale.shape()[static_cast<int64_t>(position)]);
  }
  std::ranges::copy(labels.reducedAxes(labels.input), std::back_inserter(order));
  return ops::reshape(transposed(scale, order), Shape(dims));
}

/// The int8 scale with the axes of the kernel.
Value ProductKernel::kernelScale(const Value &scale) const {
  if (form_.isMatrix)
    return scale;
  const std::vector<int64_t> kept = form_.labels.keptAxes(form_.labels.kernel);
  std::vector<int64_t> order(kept.size()); // the output position of each kept axis of the kernel
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t position) { return kept[static_cast<size_t>(position)]; });
  std::vector<int64_t> inOutput, inKernel(static_cast<size_t>(form_.kernelShape.rank()), 1);
  for (const int64_t axis : kept) {
    inOutput.push_back(form_.kernelShape[axis]);
    inKernel[static_cast<size_t>(axis)] = form_.kernelShape[axis];
  }
  return ops::reshape(transposed(ops::reshape(scale, Shape(inOutput)), order), Shape(inKernel));
}

Value ProductKernel::times(const Value &x, const CallContext &context) const {
  const DType compute = context.compute_dtype();
  if (calibrated_.isThere() && !InitialZeros::isOpen())
    throw Error(ErrorKind::not_implemented_error,
                "kernels of GPTQ and AWQ are only read from files, as floats; computing with them is not supported");
  if (calibrated_.isThere()) // for the shapes of a model being read
    return product(x, tracing().splat(0.0, form_.kernelShape, compute));
  if (!config_.defined())
    return product(x, delta_.isOn() ? asDtype(Value(kernel_) + delta_.value(), compute) : Value(kernel_));
  const DType result = resultDtype(x, compute);
  const Value input = asDtype(x, result, "layer input");
  const Value sums = config_.mode == "float8" ? float8Product(input, result, context.training())
                     : config_.mode == "int8" ? int8Product(input)
                                              : int4Product(input);
  return asDtype(delta_.isOn() ? sums + deltaProduct(input) : sums, result);
}

/// The dtype of the product with a float kernel: the common dtype of both factors. Integer inputs have already been
/// converted to floats.
DType ProductKernel::resultDtype(const Value &x, DType compute) const {
  return productDtype(x.dtype(), delta_.isOn() ? compute : Value(scale_.defined() ? scale_ : kernel_).dtype());
}

/// The delta's contribution to the product, computed as (x @ a) @ b if the output ends with an axis that only the
/// kernel has.
Value ProductKernel::deltaProduct(const Value &x) const {
  const EinsumLabels labels = form_.labels.expanded(x.rank());
  const char last = labels.kernel.back();
  const bool isByRank =
      form_.isMatrix || (labels.output.back() == last && labels.input.find(last) == std::string::npos);
  return isByRank ? delta_.fromA(product(x, delta_.a())) : product(x, delta_.value());
}

Value ProductKernel::int8Product(const Value &x) const {
  return ops::custom_gradient([self = *this, compute = x.dtype()](const Values &v) -> ops::WithGradient {
    const Value input = v[0], kernel = v[1];
    Value scale = v[2], factor = input;
    if (self.config_.quantizes_activations) {
      const EinsumLabels labels = self.form_.labels.expanded(input.rank());
      const QuantizedValue quantized = absMaxQuantized(input, labels.reducedAxes(labels.input));
      factor = quantized.values;
      scale = scale * self.asOutput(quantized.scale, labels);
    }
    return {ops::divide(asDtype(self.product(factor, kernel), compute), scale),
            [self, v, compute](const Value &upstream) {
              const Value floats = asDtype(v[1], compute) / self.kernelScale(v[2]);
              return Values{self.inputGradient(upstream, floats, v[0].rank()), v[1], ops::zeros_like(v[2])};
            }};
  })({x, kernel_, scale_});
}

Value ProductKernel::int4Product(const Value &x) const {
  const int64_t columns = columnCount();
  const DType compute = x.dtype();
  const Value zero = isGrouped() ? Value(zero_) : Value(), groups = isGrouped() ? Value(groups_) : Value();
  const auto floatsOf = [self = *this, columns, compute, zero, groups](const Value &packed, const Value &scale) {
    const Value values = unpackedInt4(packed, columns);
    const Value floats =
        self.isGrouped() ? dequantizedGroups(values, scale, zero, groups, 0) : asDtype(values, compute) / scale;
    return ops::reshape(asDtype(floats, compute), self.form_.kernelShape);
  };
  return ops::custom_gradient([self = *this, columns, compute, floatsOf](const Values &v) -> ops::WithGradient {
    const auto gradient = [self, v, floatsOf](const Value &upstream) {
      return Values{self.inputGradient(upstream, floatsOf(v[1], v[2]), v[0].rank()), v[1], ops::zeros_like(v[2])};
    };
    Value factor = v[0], divisor;
    if (self.config_.quantizes_activations) {
      const EinsumLabels labels = self.form_.labels.expanded(factor.rank());
      const QuantizedValue quantized = absMaxQuantized(factor, labels.reducedAxes(labels.input));
      factor = quantized.values;
      divisor = self.asOutput(quantized.scale, labels);
    }
    if (self.isGrouped() || !self.form_.isMatrix) { // Keras contracts dequantized weights here
      const Value sums = self.product(factor, floatsOf(v[1], v[2]));
      return {divisor.defined() ? sums / divisor : sums, gradient};
    }
    const Value sums = asDtype(self.product(factor, unpackedInt4(v[1], columns)), compute);
    return {sums / (divisor.defined() ? v[2] * divisor : v[2]), gradient};
  })({x, kernel_, scale_});
}

Value ProductKernel::float8Product(const Value &x, DType result, bool updates) const {
  const Value kernel = asDtype(kernel_, result);
  const Value sums =
      product(roundedToFloat8(x, input_, result, updates), roundedToFloat8(kernel, weight_, result, updates));
  return withFloat8Gradient(sums, gradient_, result);
}

Value ProductKernel::call(const Value &x, const CallContext &context) const {
  Value sums = times(x, context);
  if (!bias_.defined())
    return sums;
  const Value bias = bias_;
  if (config_.mode != "float8" || bias.dtype() != DType::float32)
    return sums + bias;
  return sums + ops::cast(ops::cast(bias, DType::bfloat16), bias.dtype());
}

} // namespace halftone::detail
