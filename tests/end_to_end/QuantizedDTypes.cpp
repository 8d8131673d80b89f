// Quantizing a layer never changes the dtype of its outputs, whatever the policy and the inputs.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;

namespace {

const std::vector<QuantizationConfig> &configs() {
  static const std::vector<QuantizationConfig> all{
      quantizers::Int8QuantizationConfig(),  quantizers::Int8QuantizationConfig(false),
      quantizers::Int4QuantizationConfig(),  quantizers::Int4QuantizationConfig({}, true),
      quantizers::Int4QuantizationConfig(2), quantizers::Float8QuantizationConfig()};
  return all;
}

/// Checks the result dtype of `call` before and after the layer is quantized under each config that it has.
template <class Make, class Call> void check(const char *policy, Make make, Call call) {
  for (const QuantizationConfig &config : configs()) {
    const PolicyScope scope{PolicyArg(policy)};
    const Layer layer = make();
    const DType before = call(layer);
    if ((config.mode == "int8" && layer.compute_dtype() == float16) ||
        (config.mode == "float8" && layer.class_name().ends_with("Embedding")))
      continue;
    CAPTURE(policy, config.mode, config.quantizes_activations, config.block_size, name(before));
    (void)layer.quantize(config.mode, {.config = config});
    CHECK(name(call(layer)) == name(before));
  }
}

constexpr const char *policies[] = {"float32", "mixed_bfloat16", "bfloat16", "mixed_float16", "float16", "float64"};
constexpr DType dtypes[] = {DType::bool_, uint8, int8, int32, float16, bfloat16, float32, float64};

/// The result dtype of a layer for an input; no program is compiled.
DType resultOf(const Layer &layer, const Shape &shape, DType dtype) {
  return layer(Input(shape, {.dtype = dtype})).dtype();
}

Tensor inputOf(DType dtype) { return Tensor({3.f, 0.f, 200.f, 1.f, 90.f, 7.f, 100.f, 2.f}, {2, 4}).astype(dtype); }

} // namespace

// policies 6.17
TEST_CASE("Dense and EinsumDense give one dtype before and after they are quantized") {
  for (const char *policy : policies)
    for (const DType dtype : dtypes)
      for (const bool autocast : {true, false}) {
        CAPTURE(name(dtype), autocast);
        const auto call = [&](const Layer &layer) { return resultOf(layer, {4}, dtype); };
        check(policy, [&] { return Dense(3, {.autocast = autocast}); }, call);
        check(policy, [&] { return EinsumDense("ab,bc->ac", {3}, {.bias_axes = "c", .autocast = autocast}); }, call);
      }
}

TEST_CASE("Dense with LoRA gives one dtype before and after it is quantized") {
  for (const char *policy : policies)
    for (const DType dtype : {uint8, float32})
      for (const char *mode : {"int8", "int4"}) {
        const PolicyScope scope{PolicyArg(policy)};
        const Dense layer(3);
        (void)resultOf(layer, {4}, dtype);
        layer.enable_lora(2);
        const DType before = resultOf(layer, {4}, dtype);
        if (layer.compute_dtype() == float16)
          continue;
        CAPTURE(policy, name(dtype), mode);
        (void)layer.quantize(mode);
        CHECK(resultOf(layer, {4}, dtype) == before);
      }
}

TEST_CASE("Embedding and ReversibleEmbedding give one dtype before and after they are quantized") {
  for (const char *policy : policies) {
    check(policy, [] { return Embedding(5, 4); }, [](const Layer &layer) { return resultOf(layer, {2}, int32); });
    for (const bool tied : {true, false})
      for (const std::optional<DType> reverse : {std::optional<DType>(), std::optional<DType>(float32)})
        for (const DType dtype : {float16, bfloat16, float32}) {
          const auto make = [&] {
            const ReversibleEmbedding layer(5, 4, {.tie_weights = tied, .reverse_dtype = reverse});
            (void)resultOf(layer, {2}, int32);
            return layer;
          };
          CAPTURE(tied, name(dtype), reverse.has_value());
          check(policy, make, [&](const Layer &layer) {
            return ReversibleEmbedding(layer)(Input({4}, {.dtype = dtype}), ReverseArgs{}).dtype();
          });
        }
  }
}

TEST_CASE("an int8 Dense multiplies integers as it multiplies the floats of their values") {
  for (const DType dtype : {DType::bool_, uint8, int32})
    for (const char *mode : {"int8", "int4"}) {
      const Dense layer(3, {.use_bias = false});
      (void)layer(inputOf(float32));
      (void)layer.quantize(mode);
      const Tensor integers = inputOf(dtype);
      CHECK(layer(integers).to_vector<float>() == layer(integers.astype(float32)).to_vector<float>());
    }
}
