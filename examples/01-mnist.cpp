// Trains a 784-512-512-10 MLP on MNIST under one dtype policy; prints the training time and the test accuracy.
// SPDX-License-Identifier: Apache-2.0
//
// To train with several processes: mpirun -n 4 01-mnist --data-parallel
// With --timing, rank 0 prints when the kernels of a step run and when data is exchanged with the other processes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <halftone/Halftone.h>
#include <string>
#include <string_view>

using namespace halftone;
using namespace halftone::layers;

namespace {

constexpr int64_t batchSize = 128;

struct Options {
  std::string policy = "float32";
  std::string data = "examples/data/mnist";
  std::string report; // file of a report page about the model; empty: none
  int64_t epochs = 3;
  bool timing = false;
};

int usage(std::string_view complaint) {
  std::fprintf(stderr,
               "01-mnist: %.*s\nusage: 01-mnist [--policy NAME] [--epochs N] [--data FOLDER] [--report FILE.html] "
               "[--data-parallel] [--timing]\n",
               static_cast<int>(complaint.size()), complaint.data());
  return 2;
}

void train(const Options &options) {
  set_random_seed(1);
  set_dtype_policy(options.policy);
  auto mnist = datasets::mnist(options.data);

  Sequential model({Input({28, 28}, {.dtype = uint8}), Rescaling(1.0 / 255), Flatten(),
                    Dense(512, {.activation = "relu"}), Dense(512, {.activation = "relu"}), Dense(10)});

  const auto start = std::chrono::steady_clock::now();
  const int64_t steps = options.epochs * ((mnist.x_train.shape()[0] + batchSize - 1) / batchSize);
  model.compile({.optimizer = optimizers::Adam(schedules::CosineDecay(1e-3, steps)),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  model.fit(mnist.x_train, mnist.y_train, {.batch_size = batchSize, .epochs = options.epochs, .verbose = 2});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  if (options.timing)
    if (const StepTimeline timeline = step_timeline(model); timeline.rank == 0) // collective: all processes call it
      std::printf("%s", timeline.text().c_str());
  const Logs logs = model.evaluate(mnist.x_test, mnist.y_test, {.batch_size = batchSize, .verbose = 0});
  if (distribution::rank() > 0) // all ranks have the same values
    return;
  std::printf("%s: test accuracy %.4f after %lld epochs, %.1f s\n", options.policy.c_str(), logs["accuracy"],
              static_cast<long long>(options.epochs), seconds.count());
  if (!options.report.empty())
    model.report(options.report);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  bool isDataParallel = false;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--data-parallel" || flag == "--timing") {
      (flag == "--timing" ? options.timing : isDataParallel) = true;
      --i; // takes no value
      continue;
    }
    if (flag != "--policy" && flag != "--epochs" && flag != "--data" && flag != "--report")
      return usage("unknown argument '" + std::string(flag) + "'");
    if (i + 1 == argc)
      return usage(std::string(flag) + " expects a value");
    if (flag == "--policy")
      options.policy = argv[i + 1];
    else if (flag == "--data")
      options.data = argv[i + 1];
    else if (flag == "--report")
      options.report = argv[i + 1];
    else if (char *end = nullptr; (options.epochs = std::strtoll(argv[i + 1], &end, 10)) < 1 || *end)
      return usage("--epochs expects a whole number from 1, got '" + std::string(argv[i + 1]) + "'");
  }
  try {
    if (isDataParallel)
      distribution::set_distribution(distribution::DataParallel());
    train(options);
  } catch (const Error &error) {
    std::fprintf(stderr, "01-mnist: %s\n", error.what());
    return 1;
  }
}
