// Enables LoRA, computes with it, and merges it into the weights of files.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Lora.h"
#include "frontend/base/RandomSeeds.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/Variables.h"
#include "frontend/layers/LayerImpl.h"
#include "runtime/base/FloatMode.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

void LowRankDelta::enable(BuildContext &context, const AdaptedWeight &weight, int64_t rank, const LoraArgs &args) {
  std::vector<int64_t> dims = weight.shape.dims();
  const Shape ofB{rank, dims.back()};
  dims.back() = rank;
  const auto add = [&](const char *suffix, const Shape &shape, const Initializer &initializer) {
    return context.add_weight({.shape = shape,
                               .initializer = initializer,
                               .dtype = DType::float32,
                               .regularizer = weight.regularizer,
                               .name = fmt::format("lora_{}_{}", weight.name, suffix)});
  };
  const Variable a = add("a", Shape(dims), args.a_initializer), b = add("b", ofB, args.b_initializer);
  a_ = a;
  b_ = b;
  factor_ = args.lora_alpha.value_or(static_cast<double>(rank)) / static_cast<double>(rank);
  aInitializer_ = args.a_initializer;
  weight.variable.impl()->trainable = false;
}

Value LowRankDelta::value() const { return fromA(a_); }
Value LowRankDelta::fromA(const Value &product) const { return scaled(ops::matmul(product, b_)); }
Value LowRankDelta::scaled(const Value &product) const { return product * factor_; }

std::pair<Tensor, Tensor> LowRankDelta::fresh() const {
  return {aInitializer_(a_.shape(), a_.dtype(), nextSeed()), Tensor::zeros(b_.shape())};
}

bool LowRankDelta::isZero(const WeightValues &values) const {
  return std::ranges::all_of(values.at(b_.impl().get()).to_vector<float>(), [](float each) { return each == 0.0F; });
}

Tensor LowRankDelta::addedTo(const Tensor &weight, const WeightValues &values) const {
  const FloatMode mode;
  const Tensor tensors[] = {values.at(a_.impl().get()), values.at(b_.impl().get())};
  const auto a = tensors[0].to_vector<float>(), b = tensors[1].to_vector<float>();
  auto sums = weight.astype(DType::float32).to_vector<float>();
  const auto rank = static_cast<size_t>(b_.shape()[0]), columns = static_cast<size_t>(b_.shape()[1]);
  std::vector<double> row(columns);
  for (size_t i = 0; i * columns < sums.size(); ++i) {
    std::ranges::fill(row, 0.0);
    for (size_t k = 0; k < rank; ++k)
      for (size_t j = 0; j < columns; ++j)
        row[j] += static_cast<double>(a[i * rank + k]) * static_cast<double>(b[k * columns + j]);
    for (size_t j = 0; j < columns; ++j)
      sums[i * columns + j] += static_cast<float>(factor_) * static_cast<float>(row[j]);
  }
  return {std::move(sums), weight.shape()};
}

void LoraBody::addDelta(BuildContext &context, int64_t rank, const LoraArgs &args) {
  const AdaptedWeight weight = adaptedWeight();
  if (weight.constraint.defined())
    throw Error(ErrorKind::value_error,
                fmt::format("Lora is incompatible with {0} constraints. In order to enable lora "
                            "on this layer, remove the `{0}_constraint` argument.",
                            weight.name));
  if (ownDelta().isOn())
    throw Error(ErrorKind::value_error, "lora is already enabled. This can only be done once per layer.");
  if (rank < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("The rank of lora must be a positive integer. Received: rank={}", rank));
  if (context.layer().resolvedPolicy().quantization_mode() == "float8")
    throw Error(ErrorKind::not_implemented_error, "LoRA is not supported under float8 quantization.");
  ownDelta().enable(context, weight, rank, args);
  noteLora(rank, args.lora_alpha.value_or(static_cast<double>(rank)));
}

void Layer::enable_lora(int64_t rank, const LoraArgs &args) const {
  auto *body = dynamic_cast<LoraBody *>(impl_->body.get());
  const std::vector<Variable> given = impl_->weights;
  try {
    if (!body)
      throw Error(ErrorKind::attribute_error,
                  fmt::format("'{}' object has no attribute 'enable_lora'", impl_->className));
    if (!impl_->built)
      throw Error(ErrorKind::value_error, "Cannot enable lora on a layer that isn't yet built.");
    BuildContext context(*impl_);
    body->addDelta(context, rank, args);
  } catch (const Error &error) {
    impl_->weights = given;
    rethrowWithLayer(error, *impl_);
  } catch (...) {
    impl_->weights = given;
    throw;
  }
  bumpConfigurationEpoch();
}

} // namespace halftone
