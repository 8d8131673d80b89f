// Training steps on a GPU beside PyTorch and JAX on it; losses must be equal. Exits with 77 if there is no GPU.
// SPDX-License-Identifier: Apache-2.0
#include "Networks.h"
#include <cstdio>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int skipped = 77;

Network besidePeers(Network network, int64_t batch, const std::vector<std::string> &policies) {
  const std::string eager = "PyTorch eager";
  network.policies = policies;
  network.batches = {batch};
  network.peers = {eager, "JAX jit"};
  network.bars = {{eager, {1.0, 1.1}}};
  return network;
}

void run(Table &table, Device gpu) {
  table.version("GPU", gpu.description());
  const std::vector<std::string> all = {"float32", "mixed_bfloat16", "mixed_float16"}, some = {all[0], all[1]};
  const MlpArgs wide{.hidden = 4, .inputs = 4096, .units = 4096};
  compareTrainSteps(table,
                    {besidePeers(perceptron({}), 128, all), besidePeers(perceptron(wide, 1e-5), 4096, some),
                     besidePeers(transformer({}), 16, some),
                     besidePeers(convolutional("MNIST convnet", "convnet", {28, 28, 1}, convnet), 128, some),
                     besidePeers(convolutional("ResNet block", "block", {56, 56, 64}, residualBlock), 32, some)},
                    gpu);
}

} // namespace

int main() {
  try {
    const Device gpu = Device::cuda(0);
    return runProgram("gpu-train-step", "one training step with Adam on a GPU", [&](Table &table) { run(table, gpu); });
  } catch (const Error &error) {
    fmt::print(stderr, "gpu-train-step: {}\n", error.what());
    return skipped;
  }
}
