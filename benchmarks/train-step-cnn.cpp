// Training steps of convolutional networks beside PyTorch and JAX; losses must be equal.
// SPDX-License-Identifier: Apache-2.0
#include "Networks.h"

using namespace halftone;
using namespace halftone::benchmarks;

/// `network`, timed with its dropout; there is no dropout while losses are compared.
static Network besidePeers(Network network, const std::vector<int64_t> &batches) {
  const std::string eager = "PyTorch eager", jax = "JAX jit";
  network.policies = {"float32", "mixed_bfloat16"};
  network.batches = batches;
  network.peers = {eager, "torch.compile max-autotune", jax};
  network.bars = {{eager, {1.5, 2.0}}, {jax, {1.2, 1.5}}};
  network.besideFloat32 = true;
  return network;
}

static void run(Table &table) {
  compareTrainSteps(table, {besidePeers(convolutional("MNIST convnet", "convnet", {28, 28, 1}, convnet), {32, 128}),
                            besidePeers(convolutional("ResNet block", "block", {56, 56, 64}, residualBlock), {8})});
}

int main() { return runProgram("train-step-cnn", "one training step with Adam", run); }
