// A small MLP on a slice of MNIST, as the end-to-end tests train it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <halftone/Halftone.h>
#include <string>
#include <vector>

namespace halftone::testing {

inline const datasets::Arrays &mnist() {
  static const datasets::Arrays arrays = datasets::mnist(HALFTONE_SOURCE_DIR "/examples/data/mnist");
  return arrays;
}

/// A 784-64-10 MLP under `policy`, compiled with Adam and from_logits cross-entropy.
inline Sequential smallMlp(const std::string &policy, const CompileArgs &extra = {}) {
  using namespace layers;
  PolicyScope scope(policy);
  set_random_seed(11);
  Sequential model({Input({28, 28}, {.dtype = uint8}), Rescaling(1.0 / 255), Flatten(),
                    Dense(64, {.activation = "relu", .name = "hidden"}), Dense(10, {.name = "head"})},
                   {.name = "mlp"});
  CompileArgs args = extra;
  args.optimizer = optimizers::Adam(1e-3);
  args.loss = losses::SparseCategoricalCrossentropy({.from_logits = true});
  args.metrics = {"accuracy"};
  model.compile(args);
  return model;
}

/// All elements of all tensors, for bitwise comparison.
inline std::vector<std::vector<float>> valuesOf(const std::vector<Variable> &variables) {
  std::vector<std::vector<float>> values;
  for (const Variable &variable : variables)
    values.push_back(variable.value().astype(float32).to_vector<float>());
  return values;
}

/// A fresh path in the build tree for a test's files.
inline std::string scratchPath(const std::string &name) {
  std::filesystem::path folder = std::filesystem::path(HALFTONE_BINARY_DIR) / "scratch";
  std::filesystem::create_directories(folder);
  std::filesystem::remove_all(folder / name);
  return (folder / name).string();
}

} // namespace halftone::testing
