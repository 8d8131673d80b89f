// Training steps of the multilayer perceptron beside PyTorch, JAX and Keras; losses must be equal.
// SPDX-License-Identifier: Apache-2.0
#include "Networks.h"

using namespace halftone;
using namespace halftone::benchmarks;

static void run(Table &table) {
  const std::string eager = "PyTorch eager", compiled = "torch.compile", jax = "JAX jit";
  Network network = perceptron({});
  network.title = "MLP";
  network.policies = {"float32", "mixed_bfloat16", "mixed_float16"};
  network.batches = {32, 128, 512};
  network.peers = {eager, compiled, "torch.compile max-autotune", jax, "Keras on JAX"};
  network.bars = {{eager, {2.0, 3.0}}, {compiled, {1.2, 1.5}}, {jax, {1.2, 1.5}}};
  compareTrainSteps(table, {network});
}

int main() { return runProgram("train-step", "one step of 784-512-512-10 with Adam", run); }
