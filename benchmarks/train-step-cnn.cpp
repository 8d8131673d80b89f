// Training steps of convolutional networks beside PyTorch and JAX; losses must be equal.
// SPDX-License-Identifier: Apache-2.0
#include "Convnets.h"
#include "Mlp.h"
#include "TrainStep.h"

using namespace halftone;
using namespace halftone::benchmarks;

/// The network created by `make`, timed with its dropout; there is no dropout while losses are compared.
static Network network(const std::string &title, const std::string &name, const Shape &image,
                       Model (*make)(const std::string &, const ConvnetArgs &), const std::vector<int64_t> &batches) {
  const std::string eager = "PyTorch eager", jax = "JAX jit";
  return {.title = title,
          .name = name,
          .data = [image](int64_t count) { return images(count, image); },
          .make = [make](const std::string &policy,
                         bool checked) { return make(policy, checked ? ConvnetArgs{0, 1e-3} : ConvnetArgs{}); },
          .policies = {"float32", "mixed_bfloat16"},
          .batches = batches,
          .peers = {eager, "torch.compile max-autotune", jax},
          .bars = {{eager, {1.5, 2.0}}, {jax, {1.2, 1.5}}},
          .besideFloat32 = true};
}

static void run(Table &table) {
  compareTrainSteps(table, {network("MNIST convnet", "convnet", {28, 28, 1}, convnet, {32, 128}),
                            network("ResNet block", "block", {56, 56, 64}, residualBlock, {8})});
}

int main() { return runProgram("train-step-cnn", "one training step with Adam", run); }
