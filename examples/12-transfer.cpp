// Trains a convnet on the digits 0 to 4 and saves it, then truncates, freezes and fine-tunes it on a few digits 5 to 9.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <halftone/Halftone.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace halftone;
using namespace halftone::layers;

namespace {

constexpr int64_t classes = 5;
using Options = std::map<std::string, std::string>;

struct Digits {
  Tensor images, labels;
};

/// The digits `first` to first + 4, at most `perClass` of each, with labels starting at 0.
Digits select(const Tensor &images, const Tensor &labels, int64_t first, int64_t perClass) {
  const std::vector<uint8_t> digits = labels.to_vector<uint8_t>();
  std::vector<int64_t> taken(classes);
  std::vector<Tensor> rows;
  std::vector<int32_t> targets;
  for (int64_t i = 0; i < std::ssize(digits); ++i) {
    const int64_t target = digits[static_cast<size_t>(i)] - first;
    if (target < 0 || target >= classes || taken[static_cast<size_t>(target)]++ >= perClass)
      continue;
    rows.push_back(images[i]);
    targets.push_back(static_cast<int32_t>(target));
  }
  return {Tensor::stack(rows).reshape({none, 28, 28, 1}), Tensor(targets)};
}

Model convnet() {
  const Input image({28, 28, 1}, {.dtype = uint8});
  Value x = Rescaling(1.0 / 255)(image);
  for (const int64_t filters : {16, 32}) {
    x = Conv2D(filters, 3, {.padding = "same", .use_bias = false})(x);
    x = MaxPooling2D(2)(ReLU()(BatchNormalization({.momentum = 0.9})(x)));
  }
  x = Flatten({.name = "features"})(x);
  return Model({image}, {Dense(classes, {.activation = "softmax"})(Dense(64, {.activation = "relu"})(x))});
}

/// Trains the model and appends the accuracy on `test` after each epoch to the line, from epoch `begin` on.
double train(const Model &model, double learningRate, const Digits &data, const Digits &test, int64_t epochs,
             int64_t begin, LineChart::Line &line) {
  model.compile({.optimizer = optimizers::Adam(learningRate),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});
  const History history = model.fit(data.images, data.labels,
                                    {.batch_size = data.labels.size() < 1000 ? 10 : 64,
                                     .epochs = epochs,
                                     .verbose = 0,
                                     .validation_data = {test.images, test.labels}});
  for (const double accuracy : history["val_accuracy"])
    line.points.emplace_back(static_cast<double>(++begin), accuracy);
  return line.points.back().second;
}

struct Counts {
  int64_t epochs, samples, digits; // of the second task; samples of each of its digits; of each of the first task's
};

void run(const Options &options, const Counts &counts) {
  const auto [epochs, samples, most] = counts;
  set_random_seed(1);
  const datasets::Arrays mnist = datasets::mnist(options.at("--data"));
  const std::string path = options.at("--model");

  LineChart::Line known{"digits 0 to 4", {}, false, 0}, scratch{"from scratch", {}, false, 1},
      head{"new head", {}, true, 2}, fine{"fine-tuned", {}, false, 2};
  const Model first = convnet();
  const double before = train(first, 1e-3, select(mnist.x_train, mnist.y_train, 0, most),
                              select(mnist.x_test, mnist.y_test, 0, most), 1, 0, known);
  first.save(path);
  std::printf("digits 0 to 4: test accuracy %.4f after 1 epoch; saved as %s\n", before, path.c_str());

  const Digits few = select(mnist.x_train, mnist.y_train, 5, samples),
               test = select(mnist.x_test, mnist.y_test, 5, most);
  const double own = train(convnet(), 1e-3, few, test, 2 * epochs, 0, scratch);
  std::printf("digits 5 to 9, %lld samples of each: test accuracy %.4f from scratch\n", static_cast<long long>(samples),
              own);
  std::fflush(stdout);

  // Makes a model of the layers up to `features`. Frozen and called with training = false, it stays unchanged.
  const Model loaded = load_model(path, {.compile = false});
  const Model base(loaded.inputs(), {loaded.get_layer("features").output()}, {.name = "base"});
  base.set_trainable(false);
  const Input image({28, 28, 1}, {.dtype = uint8});
  const Model model({image}, {Dense(classes, {.activation = "softmax"})(base(image, {.training = false}))});
  std::printf("new head on %s: %zu of %zu weights are trained\n", base.name().c_str(),
              model.trainable_variables().size(), model.weights().size());
  const double withHead = train(model, 3e-3, few, test, epochs, 0, head);

  // A low learning rate, since the layers are already good and a few samples must not spoil them.
  base.set_trainable(true);
  fine.points.push_back(head.points.back());
  const double tuned = train(model, 5e-4, few, test, epochs, epochs, fine);
  std::printf("test accuracy %.4f with the new head, %.4f fine-tuned\n", withHead, tuned);
  plot_charts({{"test accuracy on the digits 5 to 9", "epochs", {scratch, head, fine}, std::pair(0.5, 1.0)}},
              options.at("--svg"));
}

int usage(const std::string &complaint) {
  std::fprintf(stderr,
               "12-transfer: %s\nusage: 12-transfer [--epochs N] [--samples N] [--digits N] [--data FOLDER] "
               "[--model FILE.keras] [--svg FILE]\n",
               complaint.c_str());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options{{"--epochs", "10"},          {"--samples", "10"},
                  {"--digits", "6000"},        {"--data", "examples/data/mnist"},
                  {"--model", "digits.keras"}, {"--svg", "transfer.svg"}};
  for (int i = 1; i < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end() || i + 1 == argc)
      return usage(std::string("expected an option and its value, got '") + argv[i] + "'");
    option->second = argv[i + 1];
  }
  std::map<std::string, int64_t> counts;
  for (const char *name : {"--epochs", "--samples", "--digits"}) {
    char *end = nullptr;
    counts[name] = std::strtoll(options[name].c_str(), &end, 10);
    if (counts[name] < 1 || *end)
      return usage(std::string(name) + " expects a whole number from 1, got '" + options[name] + "'");
  }
  try {
    run(options, {counts["--epochs"], counts["--samples"], counts["--digits"]});
  } catch (const Error &error) {
    std::fprintf(stderr, "12-transfer: %s\n", error.what());
    return 1;
  }
}
