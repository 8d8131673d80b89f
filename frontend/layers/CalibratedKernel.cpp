// Reads kernels that Keras quantized by GPTQ or AWQ.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/CalibratedKernel.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/graph/Variables.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/ProductKernel.h"
#include "runtime/base/Extents.h"
#include "runtime/base/FloatMode.h"
#include "runtime/policy/PythonText.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

/// The parts of "gptq/4/128".
struct CalibratedMode {
  bool isAwq;
  int64_t bits, group;
};
CalibratedMode parsed(const std::string &mode) {
  const size_t first = mode.find('/'), second = mode.find('/', first + 1);
  const auto integer = [&](size_t begin, size_t end) {
    return pythonInteger(std::string_view(mode).substr(begin, end - begin)).value_or(-1);
  };
  return {mode.starts_with("awq"), integer(first + 1, second), integer(second + 1, mode.size())};
}

} // namespace

void CalibratedKernel::build(BuildContext &context, const std::string &mode, const Shape &kernel) {
  const CalibratedMode parts = parsed(mode);
  const std::vector<int64_t> &dims = kernel.dims();
  if (dims.size() != 2 && dims.size() != 3)
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("GPTQ and AWQ quantize kernels of rank 2 or 3. Received: {}", kernel.str()));
  const bool isInputFirst = dims.size() == 2 || std::ranges::max_element(dims) == dims.begin(); // Keras's rule
  kernel_ = kernel;
  columns_ = isInputFirst ? kernel.elements() / dims[0] : dims.back();
  rows_ = isInputFirst ? dims[0] : extentProduct(dims[0], dims[1]);
  bits_ = parts.bits;
  perByte_ = bits_ == 4 ? 2 : 1;
  const int64_t groups = parts.group == -1 ? 1 : (rows_ + parts.group - 1) / parts.group;
  const DType floats = context.variable_dtype();
  values_ = fixedWeight(context, "kernel", Tensor::zeros({(columns_ + perByte_ - 1) / perByte_, rows_}, DType::uint8));
  scale_ = fixedWeight(context, "kernel_scale", Tensor::ones({columns_, groups}, floats));
  zero_ = fixedWeight(context, "kernel_zero", Tensor::zeros({columns_, groups}, DType::uint8));
  if (parts.isAwq)
    inputs_ = fixedWeight(context, "awq_scales", Tensor::ones({rows_}, floats));
  groups_ = fixedWeight(context, "g_idx", Tensor::zeros({rows_}));
}

/// Changes the shape of a variable for which no value was read.
static void reshape(const Variable &variable, const Shape &shape) {
  VariableImpl &impl = *variable.impl();
  impl.shape = shape;
  impl.memory = makeZeros(shape, impl.dtype, {.name = impl.name, .path = impl.path}).impl()->memory;
}

void CalibratedKernel::layOutAs(const Shape &kernel, const Shape &scale) {
  const int64_t groups = scale_.shape()[1];
  for (const bool isRowFirst : {false, true})
    for (const int64_t perByte : {1, 2, 4}) {
      if (perByte * bits_ > 8)
        continue;
      const int64_t packed = (columns_ + perByte - 1) / perByte;
      const Shape values = isRowFirst ? Shape{rows_, packed} : Shape{packed, rows_};
      const Shape scales = isRowFirst ? Shape{groups, columns_} : Shape{columns_, groups};
      if (values != kernel || scales != scale)
        continue;
      isRowFirst_ = isRowFirst;
      perByte_ = perByte;
      reshape(values_, values);
      reshape(scale_, scales);
      reshape(zero_, scales);
      return;
    }
}

std::vector<Variable> CalibratedKernel::variables() const {
  std::vector<Variable> all{values_, scale_, zero_, groups_};
  if (inputs_.defined())
    all.push_back(inputs_);
  return all;
}

Tensor CalibratedKernel::floats() const {
  const FloatMode mode;
  const auto numbersOf = [](const Variable &variable) {
    return variable.value().astype(DType::float64).to_vector<double>();
  };
  const std::vector<double> scale = numbersOf(scale_), zero = numbersOf(zero_), group = numbersOf(groups_);
  const std::vector<double> inputs = inputs_.defined() ? numbersOf(inputs_) : std::vector<double>();
  const std::vector<uint8_t> values = values_.value().to_vector<uint8_t>();
  const size_t columns = static_cast<size_t>(columns_), rows = static_cast<size_t>(rows_);
  const size_t groups = columns == 0 ? 1 : scale.size() / columns, perByte = static_cast<size_t>(perByte_);
  const size_t packed = (columns + perByte - 1) / perByte;
  const auto bits = static_cast<unsigned>(perByte_ == 1 ? 8 : bits_);
  std::vector<float> floats(rows * columns);
  for (size_t c = 0; c < columns; ++c)
    for (size_t r = 0; r < rows; ++r) {
      const size_t byte = isRowFirst_ ? r * packed + c / perByte : c / perByte * rows + r;
      const unsigned value = (values[byte] >> (c % perByte * bits)) & ((1U << bits) - 1);
      const size_t g = std::min(groups - 1, static_cast<size_t>(std::max(0.0, group[r])));
      const size_t index = isRowFirst_ ? g * columns + c : c * groups + g;
      const auto number = static_cast<float>((value - zero[index]) * scale[index]);
      floats[r * columns + c] = inputs.empty() ? number : number / static_cast<float>(inputs[r]);
    }
  return {std::move(floats), kernel_};
}

void dequantizeCalibrated(const Layer &model) {
  for (const Layer &layer : computingLayers(model)) {
    auto *body = dynamic_cast<CalibratedBody *>(layer.impl()->body.get());
    BuildContext context(*layer.impl());
    const DTypePolicy policy = layer.impl()->resolvedPolicy();
    if (!body || !body->dequantize(context))
      continue;
    const std::string source = policy.get_config().get_string("source_name");
    layer.impl()->quantizedMode = "";
    layer.impl()->holdMode();
    layer.set_dtype_policy(PolicyArg(source, Where{}));
    writeOutput(fmt::format(
        "warning: layer '{}' has the policy '{}': its kernel is read as floats, and its policy is now '{}'\n",
        layer.path(), policy.name(), source));
  }
}

} // namespace halftone::detail
