// Training steps of a GPT beside PyTorch and JAX; losses must be equal.
// SPDX-License-Identifier: Apache-2.0
#include "Networks.h"

using namespace halftone;
using namespace halftone::benchmarks;

/// A GPT of the row's sizes. The small one verifies that all three libraries compute the same function.
static Network network(const GptArgs &sizes, int64_t batch) {
  const std::string compiled = "torch.compile", jax = "JAX jit";
  Network gpt = transformer(sizes);
  gpt.policies = {"float32", "mixed_bfloat16"};
  gpt.batches = {batch};
  gpt.peers = {compiled, "torch.compile max-autotune", jax};
  gpt.bars = {{compiled, {1.0, 1.2}}, {jax, {1.1, 1.2}}};
  gpt.besideFloat32 = true;
  return gpt;
}

static void run(Table &table) {
  compareTrainSteps(table, {network({.layers = 2, .width = 64, .heads = 2, .length = 32}, 4), network({}, 16)});
}

int main() { return runProgram("train-step-gpt", "one training step of a GPT with Adam", run); }
