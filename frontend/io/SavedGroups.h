// The groups of Keras's weights files: which variables of a model stand under which name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/CalibratedKernel.h"
#include "frontend/layers/Lora.h"
#include "frontend/layers/VocabularyState.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Layer.h"
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace halftone::detail {

/// Which names tell the layers of a user's layer apart in a file; a layer without one is told apart by its class, numbered in
/// the order of the first calls among those without a name: "dense", "dense_1". So the groups are the same in each process that
/// runs the same code. A name that a sibling has, or that HDF5 cannot hold, counts as none.
enum class Naming : uint8_t {
  given,  // names that the code gives, which are those of Keras's attributes: files are written so
  placed, // of these, names other than such as uniqueName() makes for the class
};
inline constexpr size_t namings = 2;
using GroupPaths = std::array<std::string, namings>; // by Naming

/// The variables of one object: "<path>/vars/0", "<path>/vars/1", ...
struct SavedGroup {
  GroupPaths paths;                       // "" for the model itself, "layers/dense_1", "optimizer"
  std::string className, name;            // of the object
  std::vector<Variable> variables{};      // trainable ones first, or in the order of Keras's layer
  bool isRandomState = false;             // of a layer that draws numbers; a file may lack it
  CalibratedKernel *calibrated = nullptr; // whose variables are among these, if there is one
  const LoraBody *adapted = nullptr;      // if LoRA adapts the layer: a file holds the variables with the delta in them
  VocabularyState *state = nullptr;       // of a layer with a vocabulary, which has no variables
  bool isCopy = false;                    // of a state: Keras's files have it twice, and the first one is read
  const std::string &path() const { return paths[0]; }
};

/// The names of the layers of `layer`, in their order, by Naming::placed.
std::vector<std::string> namesByPlace(const LayerImpl &layer);

/// A model's groups in Keras's order. Layers of a graph are named by class and number in the order of `model.layers`, whatever
/// their names are; those of a user's layer by Naming. A user's layer gets the states of draws that no draw has made yet, if
/// `has` holds for the paths of their groups: then call the function in a CallTransaction.
std::vector<SavedGroup> savedGroups(const Layer &model, const std::function<bool(const std::string &path)> &has = {});

/// The optimizer's: with a loss scale, the inner optimizer's variables once with and once without it, as in Keras.
std::vector<SavedGroup> savedGroups(const Optimizer &optimizer);

} // namespace halftone::detail
