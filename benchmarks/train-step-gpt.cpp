// Training steps of a GPT beside PyTorch and JAX; losses must be equal.
// SPDX-License-Identifier: Apache-2.0
#include "Gpt.h"
#include "TrainStep.h"
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::benchmarks;

/// A GPT of the row's sizes. The small one verifies that all three libraries compute the same function.
static Network network(const GptArgs &sizes, int64_t batch) {
  const std::string compiled = "torch.compile", jax = "JAX jit";
  return {.title = fmt::format("GPT, {} layers of {}, {} heads, {} long,", sizes.layers, sizes.width, sizes.heads,
                               sizes.length),
          .name = fmt::format("gpt{}", sizes.heads),
          .data = [=](int64_t count) { return texts(count, sizes.length); },
          .make =
              [=](const std::string &policy, bool checked) {
                GptArgs args = sizes;
                args.learning_rate = checked ? 1e-3 : 0;
                return gpt(policy, args);
              },
          .policies = {"float32", "mixed_bfloat16"},
          .batches = {batch},
          .peers = {compiled, "torch.compile max-autotune", jax},
          .bars = {{compiled, {1.0, 1.2}}, {jax, {1.1, 1.2}}},
          .besideFloat32 = true};
}

static void run(Table &table) {
  compareTrainSteps(table, {network({.layers = 2, .width = 64, .heads = 2, .length = 32}, 4), network({}, 16)});
}

int main() { return runProgram("train-step-gpt", "one training step of a GPT with Adam", run); }
