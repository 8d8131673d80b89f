// The groups of Keras's weights files: the variables of a model under each group name.
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

/// The names that identify the sublayers of a user's layer in a file. A layer without such a name is identified by its
/// class and a number, in the order of the first calls of these layers: "dense", "dense_1". So every process that runs
/// the same code produces the same groups. A name that a sibling has, or that HDF5 cannot represent, is not used.
enum class Naming : uint8_t {
  given,  // names given in code, equal to Keras's attribute names: used for writing
  placed, // those given names that uniqueName() cannot produce for the class
};
inline constexpr size_t namings = 2;
using GroupPaths = std::array<std::string, namings>; // indexed by Naming

/// The variables of one object: "<path>/vars/0", "<path>/vars/1", ...
struct SavedGroup {
  GroupPaths paths;                       // "" for the model itself, "layers/dense_1", "optimizer"
  std::string className, name;            // of the object
  std::vector<Variable> variables{};      // trainable ones first, or in the order of Keras's layer
  bool isRandomState = false;             // the seed state of a random layer, optional in a file
  CalibratedKernel *calibrated = nullptr; // if not null, its variables are included above
  const LoraBody *adapted = nullptr;      // if LoRA adapts the layer: a file holds the weights with the delta merged
  VocabularyState *state = nullptr;       // of a layer with a vocabulary, which has no variables
  bool isCopy = false;                    // a second copy of a state: Keras's files have two, and the first is read
  const std::string &path() const { return paths[0]; }
};

/// The names of the sublayers of `layer`, in order, by Naming::placed.
std::vector<std::string> namesByPlace(const LayerImpl &layer);

/// The groups of a model in Keras's order. Layers of a graph are named by class and number in the order of
/// `model.layers`, regardless of their names; sublayers of a user's layer are named by Naming. If `has` is set, a
/// user's layer also gets the states of random draws not yet made for which `has(path)` is true; the caller must then
/// hold a CallTransaction.
std::vector<SavedGroup> savedGroups(const Layer &model, const std::function<bool(const std::string &path)> &has = {});

/// The groups of an optimizer. With a loss scale, the inner optimizer's variables appear twice, with and without it, as
/// in Keras.
std::vector<SavedGroup> savedGroups(const Optimizer &optimizer);

} // namespace halftone::detail
