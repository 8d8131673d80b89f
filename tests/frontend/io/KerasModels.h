// Models saved by real Keras: their folders, and the recorded predictions and losses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/frontend/RecordedJson.h"
#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace halftone::test {

namespace fs = std::filesystem;

/// The folder HALFTONE_KERAS_MODELS, or ../shared/data/keras/models next to the sources. Prints the reason and returns
/// nullopt if it does not exist.
inline std::optional<fs::path> kerasModels() {
  const char *given = std::getenv("HALFTONE_KERAS_MODELS");
  const fs::path folder = given ? fs::path(given) : fs::path(HALFTONE_SOURCE_DIR) / "../shared/data/keras/models";
  if (fs::is_directory(folder))
    return folder;
  std::cout << "skipped: no models of Keras's in " << folder << "; HALFTONE_KERAS_MODELS can name their folder\n";
  return std::nullopt;
}

inline Json jsonIn(const fs::path &file) { return Json::parse(std::ifstream(file)); }

/// The tolerances: predictions relative to the largest, losses relative to the recorded one. Keras's PyTorch backend
/// reproduces the files within them.
struct Tolerances {
  double predictions, firstLoss, losses;
};

/// One folder.
struct RecordedModel {
  fs::path folder;
  Json facts = jsonIn(folder / "model.json"), losses = jsonIn(folder / "losses.json");

  std::string policy() const { return facts.at("policy"); }
  Tolerances tolerances() const {
    const std::string name = policy(), model = facts.at("name");
    if (model == "policy_map_paths") // recorded under the paths of a loaded Keras model, where other keys apply
      return {2e-2, 3e-3, 3e-2};
    if (model == "mlp_loss_scale") // updates begin when the falling loss scale lets a step through
      return {3e-3, 2e-4, 2e-2};
    if (name == "float8_from_mixed_bfloat16") // a difference in bfloat16 can become one float8 step, 6 %
      return {4e-2, 3e-3, 2e-2};
    if (name.find("bfloat16") != name.npos)
      return {2e-2, 3e-3, 3e-2};
    if (name.find("float16") != name.npos || name == "map")
      return {3e-3, 2e-4, 1e-2};
    return {2e-6, 1e-6, 3e-5};
  }
  /// The global policy under which Keras made and loaded the model. The policies of its layers are in the file.
  PolicyScope scope() const {
    const std::string name = policy();
    return PolicyScope(name == "map" || name.find("_from_") != name.npos ? "float32" : name);
  }
  /// x.npy, or x_0.npy, x_1.npy, ...
  std::vector<Tensor> arrays(const std::string &stem) const {
    if (fs::exists(folder / (stem + ".npy")))
      return {Tensor::load_npy((folder / (stem + ".npy")).string())};
    std::vector<Tensor> all;
    for (fs::path file; fs::exists(file = folder / (stem + "_" + std::to_string(all.size()) + ".npy"));)
      all.push_back(Tensor::load_npy(file.string()));
    return all;
  }
  std::string file(const char *name) const { return (folder / name).string(); }
};

/// Checks each output of `model` against the recorded arrays.
inline void checkPredictions(const Model &model, const RecordedModel &recorded, const std::string &stem) {
  const Tensors found = model.predict_all(Tensors(recorded.arrays("x")), {.verbose = 0});
  const std::vector<Tensor> expected = recorded.arrays(stem);
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    CHECK(distance(numbers(found[i]), numbers(expected[i])) <= recorded.tolerances().predictions);
}

/// Trains and compares with the recorded losses.
inline void checkLosses(const Model &model, const RecordedModel &recorded, const char *key) {
  const Tensors x(recorded.arrays("x")), y(recorded.arrays("y"));
  const Tolerances tolerances = recorded.tolerances();
  const bool first = std::string_view(key) == "losses"; // later losses are small, and so are their absolute errors
  REQUIRE(recorded.losses.at(key).size() >= 5);
  for (size_t step = 0; step < recorded.losses.at(key).size(); ++step) {
    INFO(key << ", step " << step);
    if (!recorded.losses.at(key)[step].is_number()) // NaN
      break;
    const double loss = model.train_on_batch(x, y)["loss"], expected = recorded.losses.at(key)[step];
    INFO(loss << " against " << expected);
    CHECK(std::abs(loss - expected) <=
          (first && step == 0 ? tolerances.firstLoss : tolerances.losses) * std::abs(expected));
  }
}

} // namespace halftone::test
