// The shared body of Dense and EinsumDense: a ProductKernel that can be quantized and adapted.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/Fields.h"
#include "frontend/layers/InitialZeros.h"
#include "frontend/layers/ProductKernel.h"
#include "frontend/layers/QuantizedModes.h"

namespace halftone::detail {

template <class Options> class ProductBody : public BodyOf<Options>, public LoraBody, public CalibratedBody {
public:
  ProductBody(const char *className, Options options)
      : BodyOf<Options>(withAlpha(std::move(options))), className_(className) {}
  bool quantizes(std::string_view mode) const override {
    if (mode == "gptq" || mode == "awq") // only from a file
      return InitialZeros::isOpen();
    return classQuantizes(className_, mode) && !(mode == "float8" && product_.delta().isOn());
  }
  void quantize(BuildContext &context, const QuantizationConfig &config) override {
    product_.quantize(context, config);
    this->options_.quantization_config = config;
  }
  bool dequantize(BuildContext &context) override {
    if (!product_.dequantize(context, kernelArgs(this->options_, product_.kernelShape())))
      return false;
    this->options_.quantization_config = {};
    return true;
  }
  CalibratedKernel &calibrated() override { return product_.calibrated(); }
  const LowRankDelta &delta() const override { return product_.delta(); }
  void merge(WeightValues &values) const override { product_.merge(values); }

protected:
  void buildProduct(BuildContext &context, const ProductForm &form, const std::optional<Shape> &bias) {
    const Options &options = this->options_;
    product_.build(context, form, kernelArgs(options, form.kernelShape),
                   bias ? std::optional(biasArgs(options, *bias)) : std::nullopt,
                   quantizationOf(context.layer().resolvedPolicy(), options.quantization_config));
    if (options.lora_rank)
      addDelta(context, *options.lora_rank, {.lora_alpha = options.lora_alpha});
  }
  AdaptedWeight adaptedWeight() const override {
    return {.name = "kernel",
            .variable = product_.kernel(),
            .shape = product_.kernelShape(),
            .regularizer = this->options_.kernel_regularizer,
            .constraint = this->options_.kernel_constraint};
  }
  LowRankDelta &ownDelta() override { return product_.delta(); }
  void noteLora(int64_t rank, double alpha) override {
    this->options_.lora_rank = rank;
    this->options_.lora_alpha = alpha;
  }

  ProductKernel product_;

private:
  const char *className_;
};

} // namespace halftone::detail
