// Training steps of the multilayer perceptron beside PyTorch, JAX and Keras; losses must be equal.
// SPDX-License-Identifier: Apache-2.0
#include "Mlp.h"
#include "TrainStep.h"

using namespace halftone;
using namespace halftone::benchmarks;

static void run(Table &table) {
  const std::string eager = "PyTorch eager", compiled = "torch.compile", jax = "JAX jit";
  compareTrainSteps(table, {{.title = "MLP",
                             .name = "mlp",
                             .data = [](int64_t count) { return images(count); },
                             .make = [](const std::string &policy,
                                        bool checked) { return mlp(policy, {.learning_rate = checked ? 1e-3 : 0}); },
                             .policies = {"float32", "mixed_bfloat16", "mixed_float16"},
                             .batches = {32, 128, 512},
                             .peers = {eager, compiled, "torch.compile max-autotune", jax, "Keras on JAX"},
                             .bars = {{eager, {2.0, 3.0}}, {compiled, {1.2, 1.5}}, {jax, {1.2, 1.5}}}}});
}

int main() { return runProgram("train-step", "one step of 784-512-512-10 with Adam", run); }
