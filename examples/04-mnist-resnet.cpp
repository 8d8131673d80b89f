// Trains a small ResNet with batch normalization under a policy map; prints policies, accuracy and training time.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <halftone/Halftone.h>
#include <iostream>
#include <map>
#include <string>

using namespace halftone;
using namespace halftone::layers;

namespace {

struct Options {
  std::string policy = "mixed_bfloat16"; // for layers that match no key of the map
  std::string map;                       // a file of DTypePolicyMap::save or of Keras that replaces the map below
  std::string dataset = "mnist";         // or fashion_mnist
  std::string data = "examples/data/mnist";
  std::string epochs = "1";
};

/// A convolution without bias, followed by batch normalization, which adds one.
Value convolution(const Value &x, int64_t filters, int64_t size, int64_t stride) {
  const Value y =
      Conv2D(filters, size,
             {.strides = stride, .padding = Padding::same, .use_bias = false, .kernel_initializer = "he_normal"})(x);
  return BatchNormalization({.momentum = 0.9})(y);
}

/// Two convolutions with a shortcut: x itself, or a strided 1x1 convolution if the block downsamples.
Value residualBlock(const Value &x, int64_t filters, int64_t stride) {
  Value y = Activation("relu")(convolution(x, filters, 3, stride));
  y = convolution(y, filters, 3, 1);
  return Activation("relu")(Add()({y, stride == 1 ? x : convolution(x, filters, 1, stride)}));
}

Model resnet() {
  Input image({28, 28, 1}, {.dtype = uint8});
  Value x = Rescaling(1.0 / 255)(image);
  x = Activation("relu")(convolution(x, 16, 3, 2)); // 14x14
  x = residualBlock(x, 16, 1);
  x = residualBlock(x, 32, 2); // 7x7
  x = residualBlock(x, 64, 2); // 4x4
  x = GlobalAveragePooling2D()(x);
  return Model({image}, {Dense(10, {.name = "head"})(x)}, {.name = "resnet"});
}

datasets::Arrays imagesOf(const Options &options) {
  datasets::Arrays arrays =
      options.dataset == "mnist" ? datasets::mnist(options.data) : datasets::fashion_mnist(options.data);
  arrays.x_train = arrays.x_train.reshape({none, 28, 28, 1});
  arrays.x_test = arrays.x_test.reshape({none, 28, 28, 1});
  return arrays;
}

void train(const Options &options, int64_t epochs) {
  const datasets::Arrays images = imagesOf(options);
  const DTypePolicyMap map =
      options.map.empty() ? DTypePolicyMap(options.policy, {{"batch_normalization.*", float32}, {"head", float32}})
                          : DTypePolicyMap::load(options.map);
  set_random_seed(1);
  set_dtype_policy(map.default_policy()); // the model's own policy, which decides whether compile() scales the loss
  const Model model = resnet();
  std::cout << model.apply_policy(map) << std::flush;

  const auto start = std::chrono::steady_clock::now();
  const int64_t batchSize = 128, steps = epochs * ((images.x_train.shape()[0] + batchSize - 1) / batchSize);
  model.compile({.optimizer = optimizers::Adam(schedules::CosineDecay(4e-3, steps)),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  model.fit(images.x_train, images.y_train, {.batch_size = batchSize, .epochs = epochs, .verbose = 2});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const Logs logs = model.evaluate(images.x_test, images.y_test, {.batch_size = batchSize, .verbose = 0});
  std::printf("%s: test accuracy %.4f after %lld epochs, %.1f s\n", map.default_policy().name().c_str(),
              logs["accuracy"], static_cast<long long>(epochs), seconds.count());
}

int usage(const std::string &complaint) {
  std::cerr << "04-mnist-resnet: " << complaint
            << "\nusage: 04-mnist-resnet [--policy NAME | --map FILE.json] [--dataset mnist|fashion_mnist] "
               "[--data FOLDER] [--epochs N]\n";
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  const std::map<std::string, std::string *> texts{{"--policy", &options.policy},
                                                   {"--map", &options.map},
                                                   {"--dataset", &options.dataset},
                                                   {"--data", &options.data},
                                                   {"--epochs", &options.epochs}};
  for (int i = 1; i < argc; i += 2) {
    if (!texts.contains(argv[i]) || i + 1 == argc)
      return usage(std::string("'") + argv[i] + "' is not an option with a value");
    *texts.at(argv[i]) = argv[i + 1];
  }
  if (options.dataset != "mnist" && options.dataset != "fashion_mnist")
    return usage("--dataset expects mnist or fashion_mnist, got '" + options.dataset + "'");
  char *end = nullptr;
  const int64_t epochs = std::strtoll(options.epochs.c_str(), &end, 10);
  if (epochs < 1 || *end)
    return usage("--epochs expects a whole number from 1, got '" + options.epochs + "'");
  try {
    train(options, epochs);
  } catch (const Error &error) {
    std::cerr << "04-mnist-resnet: " << error.what() << "\n";
    return 1;
  }
}
