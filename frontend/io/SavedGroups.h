// The groups of Keras's weights files: which variables of a model stand under which name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/CalibratedKernel.h"
#include "frontend/layers/Lora.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Layer.h"
#include <string>
#include <vector>

namespace halftone::detail {

/// The variables of one object: "<path>/vars/0", "<path>/vars/1", ...
struct SavedGroup {
  std::string path;                       // "" for the model itself, "layers/dense_1", "optimizer"
  std::string className, name;            // of the object
  std::vector<Variable> variables{};      // trainable ones first, or in the order of Keras's layer
  bool isRandomState = false;             // of a layer that draws numbers; a file may lack it
  CalibratedKernel *calibrated = nullptr; // whose variables are among these, if there is one
  const LoraBody *adapted = nullptr;      // if LoRA adapts the layer: a file holds the variables with the delta in them
};

/// The names by which files tell the layers of `layer` apart, in their order: of a layer that was given a name, the name; of
/// another, its class, numbered in the order of the first calls among those without a name: "dense", "dense_1". So they are
/// the same in each process that runs the same code. A name that a sibling has, or that HDF5 cannot hold, counts as none.
std::vector<std::string> namesByPlace(const LayerImpl &layer);

/// A model's groups in Keras's order. Layers of a graph are named by class and number in the order of `model.layers`, whatever
/// their names are; the layers of a user's layer by namesByPlace(), since a given name is that of Keras's attribute.
std::vector<SavedGroup> savedGroups(const Layer &model);

/// The optimizer's: with a loss scale, the inner optimizer's variables once with and once without it, as in Keras.
std::vector<SavedGroup> savedGroups(const Optimizer &optimizer);

} // namespace halftone::detail
