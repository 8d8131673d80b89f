// Perceptrons, convolutional nets and transformers, built from layers as their papers describe them.
// SPDX-License-Identifier: Apache-2.0
#include "ColdNets.h"
#include "Convnets.h"
#include "Mlp.h"
#include <algorithm>
#include <array>
#include <random>

namespace halftone::benchmarks {

using namespace layers;

namespace {

constexpr int64_t classes = 10, vocabulary = 512, length = 64, batch = 4;

Model compiled(const std::string &policy, const LossSpec &loss, const std::function<Model()> &make) {
  set_random_seed(1);
  set_dtype_policy(policy);
  const Model model = make();
  set_dtype_policy("float32");
  model.compile({.optimizer = optimizers::Adam(), .loss = loss});
  return model;
}

Model classifier(const std::string &policy, const std::function<Value(const Value &)> &features,
                 const Shape &image = {64, 64, 3}) {
  return compiled(policy, losses::SparseCategoricalCrossentropy({.from_logits = true}), [&] {
    const Input x(image);
    return Model({x}, {Dense(classes)(features(x))});
  });
}

Value convolution(const Value &x, int64_t filters, int64_t size, int64_t stride, const std::string &activation) {
  const Value y =
      BatchNormalization()(Conv2D(filters, size, {.strides = stride, .padding = Padding::same, .use_bias = false})(x));
  return activation.empty() ? y : Activation(activation)(y);
}

Value depthwise(const Value &x, int64_t size, int64_t stride, const std::string &activation) {
  return Activation(activation)(
      BatchNormalization()(DepthwiseConv2D(size, {.strides = stride, .padding = Padding::same, .use_bias = false})(x)));
}

Value stem(const Value &x) {
  return MaxPooling2D(3, {.strides = 2, .padding = Padding::same})(convolution(x, 64, 7, 2, "relu"));
}

Value resnet50(Value x) {
  x = stem(x);
  constexpr std::array<int64_t, 4> blocks = {3, 4, 6, 3};
  for (size_t stage = 0; stage < blocks.size(); ++stage)
    for (int64_t block = 0; block < blocks[stage]; ++block) {
      const int64_t filters = int64_t(64) << stage, stride = block == 0 && stage > 0 ? 2 : 1;
      Value y = convolution(x, filters, 1, stride, "relu");
      y = convolution(convolution(y, filters, 3, 1, "relu"), 4 * filters, 1, 1, "");
      x = Activation("relu")(Add()({block == 0 ? convolution(x, 4 * filters, 1, stride, "") : x, y}));
    }
  return GlobalAveragePooling2D()(x);
}

/// A stage of inverted residual blocks: expansion factor, channels, number of blocks, stride of the first block, kernel
/// size.
struct Inverted {
  int64_t expansion, filters, blocks, stride, size = 3;
};

Value mobilenetV2(Value x) {
  x = convolution(x, 32, 3, 2, "relu6");
  int64_t channels = 32;
  for (const Inverted &stage : {Inverted{1, 16, 1, 1},
                                {6, 24, 2, 2},
                                {6, 32, 3, 2},
                                {6, 64, 4, 2},
                                {6, 96, 3, 1},
                                {6, 160, 3, 2},
                                {6, 320, 1, 1}})
    for (int64_t block = 0; block < stage.blocks; ++block) {
      const int64_t stride = block == 0 ? stage.stride : 1;
      Value y = stage.expansion == 1 ? x : convolution(x, stage.expansion * channels, 1, 1, "relu6");
      y = convolution(depthwise(y, 3, stride, "relu6"), stage.filters, 1, 1, "");
      x = block > 0 ? Add()({x, y}) : y;
      channels = stage.filters;
    }
  return GlobalAveragePooling2D()(convolution(x, 1280, 1, 1, "relu6"));
}

/// Squeeze and excitation: scales each channel by a gate computed from the means of all channels.
Value squeezed(const Value &x, int64_t channels, int64_t inner) {
  const Value mean = GlobalAveragePooling2D({.keepdims = true})(x);
  const Value small = Conv2D(inner, 1, {.activation = "silu"})(mean);
  return Multiply()({x, Conv2D(channels, 1, {.activation = "sigmoid"})(small)});
}

Value efficientnetB0(Value x) {
  x = convolution(x, 32, 3, 2, "silu");
  int64_t channels = 32;
  for (const Inverted &stage : {Inverted{1, 16, 1, 1},
                                {6, 24, 2, 2},
                                {6, 40, 2, 2, 5},
                                {6, 80, 3, 2},
                                {6, 112, 3, 1, 5},
                                {6, 192, 4, 2, 5},
                                {6, 320, 1, 1}})
    for (int64_t block = 0; block < stage.blocks; ++block) {
      const int64_t inner = stage.expansion * channels;
      Value y = stage.expansion == 1 ? x : convolution(x, inner, 1, 1, "silu");
      y = depthwise(y, stage.size, block == 0 ? stage.stride : 1, "silu");
      y = convolution(squeezed(y, inner, std::max<int64_t>(channels / 4, 1)), stage.filters, 1, 1, "");
      x = block > 0 ? Add()({x, Dropout(0.2, {.noise_shape = Shape{none, 1, 1, 1}})(y)}) : y;
      channels = stage.filters;
    }
  return GlobalAveragePooling2D()(convolution(x, 1280, 1, 1, "silu"));
}

Value densenet121(Value x) {
  constexpr int64_t growth = 32;
  const auto normal = [](const Value &y) { return Activation("relu")(BatchNormalization()(y)); };
  const auto plain = [](const Value &y, int64_t filters, int64_t size) {
    return Conv2D(filters, size, {.padding = Padding::same, .use_bias = false})(y);
  };
  x = stem(x);
  int64_t channels = 64;
  for (const int64_t blocks : {6, 12, 24, 16}) {
    for (int64_t block = 0; block < blocks; ++block)
      x = Concatenate()({x, plain(normal(plain(normal(x), 4 * growth, 1)), growth, 3)});
    channels += blocks * growth;
    if (blocks != 16) {
      channels /= 2;
      x = AveragePooling2D(2)(plain(normal(x), channels, 1));
    }
  }
  return GlobalAveragePooling2D()(normal(x));
}

struct Width {
  int64_t width, heads;
};

Value feedForward(const Value &x, int64_t width) {
  return Add()({x, Dense(width)(Dense(4 * width, {.activation = "gelu"})(LayerNormalization()(x)))});
}

Value selfAttention(const Value &x, const Width &size, bool causal) {
  const Value h = LayerNormalization()(x);
  return Add()({x, MultiHeadAttention(size.heads, size.width / size.heads)(h, h, {.use_causal_mask = causal})});
}

/// A vision transformer: 64 patches of 8 x 8 pixels through six layers.
Value vit(const Value &image) {
  constexpr Width size = {192, 3};
  Value x = Reshape({64, size.width})(Conv2D(size.width, 8, {.strides = 8})(image));
  for (int layer = 0; layer < 6; ++layer)
    x = feedForward(selfAttention(x, size, false), size.width);
  return GlobalAveragePooling1D()(LayerNormalization()(x));
}

LossSpec perToken() { return losses::SparseCategoricalCrossentropy({.from_logits = true}); }

Model gptOf(const std::string &policy, int64_t layerCount) {
  return compiled(policy, perToken(), [&] {
    constexpr Width size = {256, 4};
    const Input tokens({length}, {.dtype = int32}), places({length}, {.dtype = int32});
    Value x = Add()({Embedding(vocabulary, size.width)(tokens), Embedding(length, size.width)(places)});
    for (int64_t layer = 0; layer < layerCount; ++layer)
      x = feedForward(selfAttention(x, size, true), size.width);
    return Model({tokens, places}, {Dense(vocabulary)(LayerNormalization()(x))});
  });
}

/// A transformer with two encoder layers and two decoder layers with cross-attention.
Model encoderDecoder(const std::string &policy) {
  return compiled(policy, perToken(), [] {
    constexpr Width size = {256, 4};
    const Input source({length}, {.dtype = int32}), target({length}, {.dtype = int32});
    Value memory = Embedding(vocabulary, size.width)(source), x = Embedding(vocabulary, size.width)(target);
    for (int layer = 0; layer < 2; ++layer)
      memory = feedForward(selfAttention(memory, size, false), size.width);
    memory = LayerNormalization()(memory);
    for (int layer = 0; layer < 2; ++layer) {
      x = selfAttention(x, size, true);
      const Value seen = MultiHeadAttention(size.heads, size.width / size.heads)(LayerNormalization()(x), memory);
      x = feedForward(Add()({x, seen}), size.width);
    }
    return Model({source, target}, {Dense(vocabulary)(LayerNormalization()(x))});
  });
}

Value twice(const Value &x, int64_t filters) {
  return convolution(convolution(x, filters, 3, 1, "relu"), filters, 3, 1, "relu");
}

/// A U-Net for pixel classification: three levels down, three up, and skip connections.
Model unet(const std::string &policy) {
  return compiled(policy, perToken(), [] {
    const Input image({64, 64, 3});
    std::vector<Value> skips;
    Value x = image;
    for (const int64_t filters : {32, 64, 128}) {
      skips.push_back(twice(x, filters));
      x = MaxPooling2D(2)(skips.back());
    }
    x = twice(x, 256);
    for (int64_t filters = 128; !skips.empty(); filters /= 2) {
      x = Conv2DTranspose(filters, 2, {.strides = 2})(x);
      x = twice(Concatenate()({skips.back(), x}), filters);
      skips.pop_back();
    }
    return Model({image}, {Conv2D(classes, 1)(x)});
  });
}

/// A variational autoencoder. The noise is an input, so that every library uses the same sample.
Model vae(const std::string &policy) {
  return compiled(policy, losses::MeanSquaredError(), [] {
    constexpr int64_t codes = 16;
    const Input image({28, 28, 1}), noise({codes});
    Value h = Conv2D(32, 3, {.strides = 2, .padding = Padding::same, .activation = "relu"})(image);
    h = Flatten()(Conv2D(64, 3, {.strides = 2, .padding = Padding::same, .activation = "relu"})(h));
    const Value mean = Dense(codes)(h), deviation = Dense(codes, {.activation = "exponential"})(h);
    h = Dense(7 * 7 * 64, {.activation = "relu"})(Add()({mean, Multiply()({deviation, noise})}));
    h = Conv2DTranspose(64, 3, {.strides = 2, .padding = Padding::same, .activation = "relu"})(Reshape({7, 7, 64})(h));
    h = Conv2DTranspose(32, 3, {.strides = 2, .padding = Padding::same, .activation = "relu"})(h);
    return Model({image, noise}, {Conv2D(1, 3, {.padding = Padding::same, .activation = "sigmoid"})(h)});
  });
}

/// Predicts the next of 64 time steps of a series.
Model lstm(const std::string &policy) {
  return compiled(policy, losses::MeanSquaredError(), [] {
    return Model(Sequential({Input({length, 32}), LSTM(128, {.return_sequences = true}), Dense(1)}));
  });
}

Tensor integers(const Shape &shape, int32_t below) {
  std::mt19937 random(7);
  std::vector<int32_t> values(static_cast<size_t>(shape.elements()));
  std::ranges::generate(values, [&] { return static_cast<int32_t>(random() % static_cast<uint32_t>(below)); });
  return Tensor(std::move(values), shape);
}

ColdNet ofImages(const std::string &name, Value (*features)(Value)) {
  return {name, [features](const std::string &policy) { return classifier(policy, features); },
          [] { return images(batch, {64, 64, 3}); }};
}

Batch pairs(const std::function<Tensor()> &second) {
  return {{integers({batch, length}, vocabulary), second()}, integers({batch, length}, vocabulary)};
}

Tensor places() {
  std::vector<int32_t> values;
  for (int64_t i = 0; i < batch * length; ++i)
    values.push_back(static_cast<int32_t>(i % length));
  return Tensor(std::move(values), {batch, length});
}

} // namespace

const std::vector<ColdNet> &coldNets() {
  static const auto &nets = *new std::vector<ColdNet>{
      {"MLP", [](const std::string &policy) { return Model(mlp(policy)); }, [] { return images(32); }},
      {"convnet", [](const std::string &policy) { return convnet(policy); }, [] { return images(32, {28, 28, 1}); }},
      ofImages("ResNet50", resnet50),
      ofImages("MobileNetV2", mobilenetV2),
      ofImages("EfficientNetB0", efficientnetB0),
      ofImages("DenseNet121", densenet121),
      ofImages("ViT", [](Value x) { return vit(x); }),
      {"GPT of 2 layers", [](const std::string &policy) { return gptOf(policy, 2); }, [] { return pairs(places); }},
      {"GPT of 12 layers", [](const std::string &policy) { return gptOf(policy, 12); }, [] { return pairs(places); }},
      {"U-Net", unet, [] { return Batch{images(batch, {64, 64, 3}).x, integers({batch, 64, 64}, classes)}; }},
      {"VAE", vae,
       [] {
         const Batch data = images(32, {28, 28, 1});
         return Batch{{data.x[0], Tensor::ones({32, 16})}, data.x};
       }},
      {"encoder-decoder", encoderDecoder, [] { return pairs([] { return integers({batch, length}, vocabulary); }); }},
      {"LSTM", lstm, [] { return Batch{{Tensor::ones({32, length, 32})}, Tensor::ones({32, length, 1})}; }},
  };
  return nets;
}

} // namespace halftone::benchmarks
