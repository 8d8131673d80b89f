// Trains Keras's MNIST convnet under several dtype policies; prints accuracy and training time, and draws the curves.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <halftone/Halftone.h>
#include <map>
#include <sstream>
#include <string>

using namespace halftone;
using namespace halftone::layers;

namespace {

constexpr int64_t batchSize = 128;
using Options = std::map<std::string, std::string>;

/// The charts, each with one line per run: the running mean of the loss, and the test accuracy after each epoch.
enum : size_t { loss, accuracy };

class Recorder : public Callback {
public:
  Recorder(std::vector<LineChart> &charts, int64_t stepsPerEpoch) : charts_(&charts), stepsPerEpoch_(stepsPerEpoch) {}
  void on_epoch_begin(int64_t epoch, const Logs &) override { epoch_ = static_cast<double>(epoch); }
  void on_train_batch_end(int64_t step, const Logs &logs) override {
    if (step % 10 == 9) // reading the logs waits for the step to finish
      (*charts_)[loss].lines.back().points.emplace_back(
          epoch_ + static_cast<double>(step + 1) / static_cast<double>(stepsPerEpoch_), logs["loss"]);
  }
  void on_epoch_end(int64_t epoch, Logs &logs) override {
    (*charts_)[accuracy].lines.back().points.emplace_back(static_cast<double>(epoch + 1), logs["val_accuracy"]);
  }

private:
  std::vector<LineChart> *charts_;
  int64_t stepsPerEpoch_;
  double epoch_ = 0.0;
};

Model convnet() {
  Input image({28, 28, 1}, {.dtype = uint8});
  Value x = Rescaling(1.0 / 255)(image);
  x = MaxPooling2D(2)(Conv2D(32, 3, {.activation = "relu"})(x));
  x = MaxPooling2D(2)(Conv2D(64, 3, {.activation = "relu"})(x));
  x = Dropout(0.5)(Flatten()(x));
  return Model({image}, {Dense(10, {.activation = "softmax", .dtype = "float32"})(x)});
}

void train(const std::string &policy, const datasets::Arrays &mnist, int64_t epochs, std::vector<LineChart> &charts) {
  set_random_seed(1);
  set_dtype_policy(policy);
  const int64_t steps = (mnist.x_train.shape()[0] + batchSize - 1) / batchSize;
  for (LineChart &chart : charts)
    chart.lines.push_back({policy, {}, false, std::ssize(chart.lines)});
  const auto start = std::chrono::steady_clock::now();
  const Model model = convnet();
  model.compile({.optimizer = optimizers::Adam(schedules::CosineDecay(2e-3, epochs * steps)),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});
  model.fit(mnist.x_train, mnist.y_train,
            {.batch_size = batchSize,
             .epochs = epochs,
             .verbose = 2,
             .callbacks = {Recorder(charts, steps)},
             .validation_data = {mnist.x_test, mnist.y_test}});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%s: test accuracy %.4f after %lld epochs, %.1f s\n", policy.c_str(),
              charts[accuracy].lines.back().points.back().second, static_cast<long long>(epochs), seconds.count());
  std::fflush(stdout);
}

void run(const Options &options, int64_t epochs) {
  datasets::Arrays mnist = datasets::mnist(options.at("--data"));
  mnist.x_train = mnist.x_train.reshape({none, 28, 28, 1});
  mnist.x_test = mnist.x_test.reshape({none, 28, 28, 1});
  std::vector<LineChart> charts{{"training loss", "epochs", {}, std::pair(0.0, 0.4)},
                                {"test accuracy", "epochs", {}, std::pair(0.96, 1.0)}};
  std::istringstream policies(options.at("--policies"));
  for (std::string policy; std::getline(policies, policy, ',');)
    train(policy, mnist, epochs, charts);
  plot_charts(charts, options.at("--svg"));
}

int usage(const std::string &complaint) {
  std::fprintf(stderr,
               "02-mnist-cnn: %s\nusage: 02-mnist-cnn [--policies NAME,NAME...] [--epochs N] [--data FOLDER] "
               "[--svg FILE]\n",
               complaint.c_str());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options{{"--policies", "float32,mixed_bfloat16,mixed_float16"},
                  {"--epochs", "3"},
                  {"--data", "examples/data/mnist"},
                  {"--svg", "mnist-cnn.svg"}};
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
  try {
    run(options, epochs);
  } catch (const Error &error) {
    std::fprintf(stderr, "02-mnist-cnn: %s\n", error.what());
    return 1;
  }
}
