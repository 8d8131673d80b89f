// Kernel and bias of a layer that multiplies its input: floats, or integers with scales in a quantization mode.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/CalibratedKernel.h"
#include "frontend/layers/EinsumLabels.h"
#include "frontend/layers/Lora.h"
#include "frontend/layers/QuantizedOps.h"
#include "frontend/layers/QuantizedWeights.h"
#include "halftone/Layer.h"

namespace halftone::detail {

/// Replaces `old` with a weight of this value.
Variable replacedWeight(BuildContext &context, const Variable &old, const Tensor &value);
/// A new non-trainable weight with this value.
Variable fixedWeight(BuildContext &context, const std::string &name, const Tensor &value);

/// The form of the product of a kernel and an input. Keras stores one int8 scale per output: as a vector for a Dense,
/// and in the output's rank for an EinsumDense.
struct ProductForm {
  EinsumLabels labels{};
  bool isMatrix = false; // Dense: (..., n) times (n, units)
  Shape kernelShape{};   // as floats
  int64_t inputRank = 0; // of the input for which the layer is built
};

/// The weight arguments of a layer's kernel and bias, from its options.
template <class Options> WeightArgs kernelArgs(const Options &options, const Shape &shape) {
  return {.shape = shape,
          .initializer = options.kernel_initializer,
          .regularizer = options.kernel_regularizer,
          .constraint = options.kernel_constraint,
          .name = "kernel"};
}
template <class Options> WeightArgs biasArgs(const Options &options, const Shape &shape) {
  return {.shape = shape,
          .initializer = options.bias_initializer,
          .regularizer = options.bias_regularizer,
          .constraint = options.bias_constraint,
          .name = "bias"};
}

class ProductKernel {
public:
  /// Adds the kernel, the bias if there is one, and the quantization states, in the order of Keras files.
  void build(BuildContext &context, const ProductForm &form, const WeightArgs &kernel,
             const std::optional<WeightArgs> &bias, const QuantizationConfig &config);
  void quantize(BuildContext &context, const QuantizationConfig &config);
  CalibratedKernel &calibrated() { return calibrated_; }
  /// Replaces a calibrated kernel by floats; returns false if there is none.
  bool dequantize(BuildContext &context, const WeightArgs &kernel);
  /// The product with an input, plus the bias. In every mode the result has the dtype that a float kernel gives.
  Value call(const Value &x, const CallContext &context) const;
  /// Merges LoRA's delta into the values of the kernel and its scales.
  void merge(WeightValues &values) const;
  LowRankDelta &delta() { return delta_; }
  const LowRankDelta &delta() const { return delta_; }
  const Variable &kernel() const { return kernel_; }
  const Shape &kernelShape() const { return form_.kernelShape; }

private:
  void addKernel(BuildContext &context, const WeightArgs &kernel);
  void addScales(BuildContext &context);
  Value times(const Value &x, const CallContext &context) const;
  DType resultDtype(const Value &x, DType compute) const;
  Value product(const Value &x, const Value &kernel) const;
  Value inputGradient(const Value &upstream, const Value &kernel, int64_t inputRank) const;
  Value asOutput(const Value &scale, const EinsumLabels &labels) const;
  Value kernelScale(const Value &scale) const;
  // The products are in the dtype of `x`, a float, as for a float kernel.
  Value int8Product(const Value &x) const;
  Value int4Product(const Value &x) const;
  Value float8Product(const Value &x, DType result, bool updates) const;
  Value deltaProduct(const Value &x) const;
  QuantizedWeights integersOf(const Tensor &floats) const;
  Tensor floatsOf(const WeightValues &values) const;
  void addFloat8States(BuildContext &context);
  MatrixView view() const;
  Shape scaleShape() const;
  int64_t rowCount() const;    // weights in the sum of one output
  int64_t columnCount() const; // outputs with separate weights
  bool isGrouped() const { return config_.mode == "int4" && config_.block_size > 0; }

  ProductForm form_;
  QuantizationConfig config_;
  Variable kernel_, bias_, scale_, zero_, groups_;
  Float8State input_, weight_, gradient_;
  LowRankDelta delta_; // of the kernel
  CalibratedKernel calibrated_;
};

} // namespace halftone::detail
