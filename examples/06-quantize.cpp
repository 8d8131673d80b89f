// Trains an MLP or a CNN on MNIST in float32 and in float8, quantizes the float32 model, and prints each accuracy.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <halftone/Halftone.h>
#include <map>
#include <string>

using namespace halftone;
using namespace halftone::layers;

namespace {

constexpr int64_t batchSize = 128;
using Options = std::map<std::string, std::string>;

Model newModel(const std::string &kind) {
  set_random_seed(1);
  const Input image({28, 28, 1}, {.dtype = uint8});
  Value x = Rescaling(1.0 / 255)(image);
  if (kind == "cnn") {
    x = MaxPooling2D(2)(Conv2D(32, 3, {.activation = "relu"})(x));
    x = MaxPooling2D(2)(Conv2D(64, 3, {.activation = "relu"})(x));
  }
  x = Flatten()(x);
  x = Dense(kind == "cnn" ? 128 : 512, {.activation = "relu"})(x);
  if (kind == "mlp")
    x = Dense(512, {.activation = "relu"})(x);
  return Model({image}, {Dense(10)(x)});
}

void compile(const Model &model, int64_t steps) {
  model.compile({.optimizer = optimizers::Adam(schedules::CosineDecay(1e-3, steps)),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
}

void run(const Options &options, int64_t epochs) {
  datasets::Arrays mnist = datasets::mnist(options.at("--data"));
  mnist.x_train = mnist.x_train.reshape({none, 28, 28, 1});
  mnist.x_test = mnist.x_test.reshape({none, 28, 28, 1});
  const std::string kind = options.at("--model");
  const int64_t steps = epochs * ((mnist.x_train.shape()[0] + batchSize - 1) / batchSize);
  const auto train = [&](const Model &model) {
    compile(model, steps);
    model.fit(mnist.x_train, mnist.y_train, {.batch_size = batchSize, .epochs = epochs, .verbose = 2});
  };
  const auto print = [&](const Model &model, const char *mode) {
    const Logs logs = model.evaluate(mnist.x_test, mnist.y_test, {.batch_size = batchSize, .verbose = 0});
    std::printf("%s, %s: test accuracy %.4f\n", kind.c_str(), mode, logs["accuracy"]);
    std::fflush(stdout);
  };

  const Model model = newModel(kind), narrow = newModel(kind);
  train(model);
  print(model, "float32");
  std::printf("%s", model.quantization_report(mnist.x_test.slice(0, 256)).text().c_str());
  const DTypePolicyMap map =
      model.suggest_policy_map(mnist.x_train.slice(0, 2048), mnist.y_train.slice(0, 2048), {.mode = "int4"});
  for (const auto &[path, policy] : map.items())
    std::printf("%s may be %s\n", path.c_str(), policy.name().c_str());
  for (const char *mode : {"int8", "int4"}) {
    const Model copy = clone_model(model);
    copy.set_weights(model.get_weights());
    (void)copy.quantize(mode);
    compile(copy, steps);
    print(copy, mode);
  }
  (void)narrow.quantize("float8"); // before training, which calibrates the scales
  train(narrow);
  print(narrow, "float8");
}

int usage(const std::string &complaint) {
  std::fprintf(stderr, "06-quantize: %s\nusage: 06-quantize [--model mlp|cnn] [--epochs N] [--data FOLDER]\n",
               complaint.c_str());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options{{"--model", "mlp"}, {"--epochs", "3"}, {"--data", "examples/data/mnist"}};
  for (int i = 1; i < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end() || i + 1 == argc)
      return usage(std::string("expected an option and its value, got '") + argv[i] + "'");
    option->second = argv[i + 1];
  }
  char *end = nullptr;
  const int64_t epochs = std::strtoll(options["--epochs"].c_str(), &end, 10);
  if (epochs < 1 || *end)
    return usage("--epochs expects a whole number from 1, got '" + options["--epochs"] + "'");
  if (options["--model"] != "mlp" && options["--model"] != "cnn")
    return usage("--model expects mlp or cnn, got '" + options["--model"] + "'");
  try {
    run(options, epochs);
  } catch (const Error &error) {
    std::fprintf(stderr, "06-quantize: %s\n", error.what());
    return 1;
  }
}
