// The nets of recorded-code: those of the benchmarks, and small ones for kernels that these lack.
// SPDX-License-Identifier: Apache-2.0
#include "RecordedNets.h"
#include "Convnets.h"
#include "Gpt.h"
#include "Mlp.h"

namespace halftone::benchmarks {

namespace {

losses::SparseCategoricalCrossentropy crossentropy() {
  return losses::SparseCategoricalCrossentropy({.from_logits = true});
}

/// Dense blocks with normalization, dropout and a skip connection.
Model residual() {
  set_random_seed(1);
  Input x({64}, {.name = "x"});
  Value h = layers::Dense(128)(x);
  for (int block = 0; block < 3; ++block) {
    Value inner = layers::LayerNormalization()(h);
    inner = layers::Dense(256, {.activation = "gelu"})(inner);
    inner = layers::Dropout(0.1)(inner);
    h = h + layers::Dense(128)(inner);
  }
  Value y = layers::Dense(10, {.name = "y"})(layers::LayerNormalization()(h));
  Model model({x}, {y}, {.name = "residual"});
  model.compile({.optimizer = "adamw", .loss = crossentropy()});
  return model;
}

/// Tokens that are embedded, batch-normalized and averaged.
Model embedding() {
  set_random_seed(1);
  Input words({20}, {.dtype = int32, .name = "words"});
  Value h = layers::Embedding(1000, 64)(words);
  h = ops::mean(layers::BatchNormalization()(h), 1);
  Model model({words}, {layers::Dense(4, {.name = "y"})(h)}, {.name = "embedding"});
  model.compile({.optimizer = "sgd", .loss = crossentropy()});
  return model;
}

/// Dense layers with these quantized weights in sequence, on float32 and then on bfloat16.
Model quantizedDense(const std::string &mode, const std::vector<QuantizationConfig> &configs) {
  set_random_seed(1);
  const Input x({768}, {.name = "x"});
  Value h = x;
  for (const char *source : {"float32", "mixed_bfloat16"})
    for (const QuantizationConfig &config : configs)
      h = layers::Dense(768,
                        {.activation = "relu", .quantization_config = config, .dtype = mode + "_from_" + source})(h);
  return Model({x}, {h}, {.name = "dense"});
}

/// Grouped convolutions with few and with many channels per group, and depthwise ones.
Model grouped(const std::string &policy) {
  using namespace layers;
  set_random_seed(1);
  set_dtype_policy(policy);
  const Input image({28, 28, 32}, {.name = "image"});
  Value h = Conv2D(64, 3, {.groups = 8, .activation = "relu"})(image);
  h = DepthwiseConv2D(3, {.padding = Padding::same})(h);
  h = Conv2D(64, 3, {.groups = 2})(h);
  h = DepthwiseConv2D(3, {.strides = 2, .depth_multiplier = 2})(h);
  const Model model({image}, {Dense(10)(GlobalAveragePooling2D()(h))}, {.name = "grouped"});
  set_dtype_policy("float32");
  model.compile({.optimizer = "sgd", .loss = crossentropy()});
  return model;
}

/// Self-attention over a sequence of 256, without a mask.
Model attention(const std::string &policy) {
  set_random_seed(1);
  set_dtype_policy(policy);
  const Input x({256, 128}, {.name = "x"});
  const Value h = ops::mean(layers::MultiHeadAttention(2, 64)(x, x), 1);
  const Model model({x}, {layers::Dense(10)(h)}, {.name = "attention"});
  set_dtype_policy("float32");
  model.compile({.optimizer = "sgd", .loss = crossentropy()});
  return model;
}

/// Attention of a single query to 512 keys, as in token-by-token generation.
Model decode(DType dtype) {
  const Input query({1, 6, 64}, {.dtype = dtype, .name = "query"}), key({512, 6, 64}, {.dtype = dtype, .name = "key"}),
      value({512, 6, 64}, {.dtype = dtype, .name = "value"});
  return Model({query, key, value}, {ops::dot_product_attention(query, key, value)}, {.name = "decode"});
}

std::vector<RecordedProgram> trainAndPredict(int64_t batch) {
  return {{"train", Program::train, batch}, {"predict", Program::predict, batch}};
}

} // namespace

std::vector<RecordedNet> recordedNets() {
  std::vector<RecordedNet> nets;
  const std::vector<std::string> policies = {"float32", "mixed_bfloat16"};
  for (const char *policy : {"float32", "mixed_bfloat16", "mixed_float16"})
    nets.push_back({std::string("mlp-") + policy, [policy] { return mlp(policy); }, trainAndPredict(128)});
  nets.push_back({"residual", residual, trainAndPredict(32)});
  nets.push_back({"embedding", embedding, trainAndPredict(32)});
  for (const std::string &policy : policies)
    nets.push_back({"convnet-" + policy, [policy] { return convnet(policy); }, trainAndPredict(128)});
  for (const std::string &policy : policies)
    nets.push_back({"residualBlock-" + policy, [policy] { return residualBlock(policy); }, trainAndPredict(32)});
  for (const Numerics numerics : {Numerics::fast, Numerics::strict})
    for (const std::string &policy : policies)
      nets.push_back({"gpt-" + policy + (numerics == Numerics::strict ? "-strict" : ""),
                      [=] { return gpt(policy, {.layers = 1, .numerics = numerics}); }, trainAndPredict(8)});
  // The panels of a weight do not depend on the number of rows of a product, but the kernel that multiplies by them
  // does.
  const std::vector<RecordedProgram> fewAndMany = {{"predict-1", Program::predict, 1},
                                                   {"predict-32", Program::predict, 32}};
  using quantizers::Int4QuantizationConfig, quantizers::Int8QuantizationConfig;
  nets.push_back({"dense-int8",
                  [] { return quantizedDense("int8", {Int8QuantizationConfig(), Int8QuantizationConfig(false)}); },
                  fewAndMany});
  nets.push_back({"dense-int4",
                  [] {
                    return quantizedDense("int4", {Int4QuantizationConfig(), Int4QuantizationConfig(std::nullopt),
                                                   Int4QuantizationConfig(std::nullopt, true)});
                  },
                  fewAndMany});
  for (const std::string &policy : policies)
    nets.push_back({"grouped-" + policy, [policy] { return grouped(policy); }, trainAndPredict(32)});
  for (const std::string &policy : policies)
    nets.push_back({"attention-" + policy, [policy] { return attention(policy); }, trainAndPredict(8)});
  for (const DType dtype : {float32, bfloat16})
    nets.push_back(
        {"decode-" + std::string(name(dtype)), [dtype] { return decode(dtype); }, {{"predict", Program::predict, 8}}});
  return nets;
}

} // namespace halftone::benchmarks
