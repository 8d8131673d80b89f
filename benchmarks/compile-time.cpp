// Compile time of the first training step: cold, from the disk cache, and for repeated layers, in fresh processes.
// SPDX-License-Identifier: Apache-2.0
#include "Convnets.h"
#include "Folder.h"
#include "Mlp.h"
#include "Race.h"
#include "Table.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <stdexcept>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int rounds = 7;

/// GPU code is generated completely before the CPU's device rejects it.
void expectRefusal(const std::function<void()> &step) {
  try {
    step();
  } catch (const Error &) {
    return;
  }
  throw std::runtime_error("a step with GPU code ran on the CPU");
}

/// An LSTM that returns all steps, and data with `steps` time steps.
Model lstm() {
  const Sequential model({Input({none, 32}), layers::LSTM(32, {.return_sequences = true}), layers::Dense(1)});
  model.compile({.optimizer = optimizers::SGD(0.01), .loss = "mse"});
  return model;
}
Batch sequences(int64_t steps) { return {Tensor::ones({32, steps, 32}), Tensor::ones({32, steps, 1})}; }

/// In the child process: the seconds of the first step of an LSTM on `steps` time steps, and then on one more, each
/// minus those of a second step.
int measureSteps(int64_t steps) {
  const Model model = lstm();
  for (const int64_t count : {steps, steps + 1}) {
    const Batch data = sequences(count);
    auto step = [&] { model.train_on_batch(data.x, data.y); };
    const double first = secondsOf(step), second = secondsOf(step);
    fmt::print("{}\n", first - second);
  }
  return 0;
}

/// In the child process: the seconds of the first step of "convnet", or of an MLP with the given number of hidden
/// layers, minus those of a second step; with HALFTONE_TARGET, the seconds until all code for that target is generated.
int measure(const std::string &network) {
  if (network.starts_with("lstm"))
    return measureSteps(std::atoll(network.c_str() + 4));
  const bool isConvnet = network == "convnet";
  const Batch data = isConvnet ? images(32, {28, 28, 1}) : images(32);
  const Model model = isConvnet ? convnet("float32") : Model(mlp("float32", {.hidden = std::atoll(network.c_str())}));
  auto step = [&] { model.train_on_batch(data.x, data.y); };
  if (std::getenv("HALFTONE_TARGET")) {
    fmt::print("{}\n", secondsOf([&] { expectRefusal(step); }));
    return 0;
  }
  const double first = secondsOf(step), second = secondsOf(step);
  fmt::print("{}\n", first - second);
  return 0;
}

/// The first or second number that the child process prints.
double child(const std::string &network, const std::filesystem::path &cache, const std::string &setting = "",
             int place = 0) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      fmt::format("{} XDG_CACHE_HOME='{}' '{}' --first-step {}", setting, cache.string(), self, network);
  FILE *pipe = ::popen(command.c_str(), "r");
  double seconds = 0;
  bool told = pipe;
  for (int number = 0; told && number <= place; ++number)
    told = std::fscanf(pipe, "%lf", &seconds) == 1;
  while (pipe && std::fgetc(pipe) != EOF) { // a child with an unread pipe would fail
  }
  if (!pipe || ::pclose(pipe) != 0 || !told)
    throw std::runtime_error("the measured process failed: " + command);
  return seconds;
}

/// Neither code nor compile time depends on the number of steps, and another number of steps needs no new recurrence
/// code.
void runSteps(Table &table, const std::filesystem::path &folder) {
  std::vector<double> few, many, other;
  for (int round = 0; round < rounds; ++round) {
    few.push_back(child("lstm20", folder / fmt::format("{}-few", round)));
    many.push_back(child("lstm2000", folder / fmt::format("{}-many", round)));
    other.push_back(child("lstm20", folder / fmt::format("{}-other", round), "", 1));
  }
  const double first = median(few), whole = median(many), next = median(other);
  table.add({"compile an LSTM's train step, cold (s)", milliseconds(first), "-", first, 1.5, {}, true});
  table.add({"compile an LSTM's train step of 2000 steps against 20",
             milliseconds(whole),
             "20 steps " + milliseconds(first),
             whole / first,
             1.1,
             {},
             true});
  table.add(
      {"compile an LSTM's train step for another number of steps (s)", milliseconds(next), "-", next, 0.2, {}, true});
}

void run(Table &table) {
  const Folder temporary;
  const std::filesystem::path &folder = temporary.path();
  std::vector<double> cold, warm, twelve, convnetCold, convnetWarm, ptxCold, ptxWarm;
  for (int round = 0; round < rounds; ++round) {
    const std::filesystem::path cache = folder / fmt::format("{}", round),
                                other = folder / fmt::format("{}-twelve", round),
                                third = folder / fmt::format("{}-convnet", round),
                                fourth = folder / fmt::format("{}-ptx", round);
    cold.push_back(child("2", cache));
    warm.push_back(child("2", cache));
    twelve.push_back(child("12", other));
    convnetCold.push_back(child("convnet", third));
    convnetWarm.push_back(child("convnet", third));
    ptxCold.push_back(child("12", fourth, "HALFTONE_TARGET=sm_80"));
    ptxWarm.push_back(child("12", fourth, "HALFTONE_TARGET=sm_80"));
  }
  runSteps(table, folder);
  const double first = median(cold), again = median(warm), many = median(twelve);
  table.add({"compile the MLP train step, cold (s)", milliseconds(first), "-", first, 0.8, 0.5, true});
  table.add({"compile the MLP train step, from the disk cache (s)", milliseconds(again), "-", again, 0.10, 0.06, true});
  table.add({"compile twelve equal Dense layers against two", milliseconds(many), "two " + milliseconds(first),
             many / first, 1.5, 1.2, true});
  const double cnnCold = median(convnetCold), cnnWarm = median(convnetWarm);
  table.add(
      {"compile the train step of the MNIST convnet, cold (s)", milliseconds(cnnCold), "-", cnnCold, 3.0, {}, true});
  table.add({"compile the train step of the MNIST convnet, from the disk cache (s)",
             milliseconds(cnnWarm),
             "-",
             cnnWarm,
             0.3,
             {},
             true});
  const double ptx = median(ptxCold), ptxAgain = median(ptxWarm);
  table.add({"the PTX of a train step of twelve Dense layers, cold (s)", milliseconds(ptx), "-", ptx, 1.5, {}, true});
  table.add({"the PTX of a train step of twelve Dense layers, from the disk cache (s)",
             milliseconds(ptxAgain),
             "-",
             ptxAgain,
             0.05,
             {},
             true});
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--first-step")
    try {
      return measure(argv[2]);
    } catch (const std::exception &error) {
      fmt::print(stderr, "compile-time: {}\n", error.what());
      return 1;
    }
  return runProgram("compile-time", "seconds from the first call to a compiled step", run);
}
