// Names of variables in files, and the matching of a file's values with variables under another policy or other names.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/Safetensors.h"
#include "frontend/training/Trainer.h"
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

class OptimizerParts;

/// The owner of a variable in a file. The class path begins with it.
enum class SavedKind : uint8_t { layer, seed, optimizer, loss_scale, own_optimizer };

struct SavedVariable {
  std::string name; // its path; a repeated path gets "#2" and so on appended
  /// "layer/Sequential/Dense_1/kernel": the kind, then classes instead of names. It is the same in every model of the
  /// same classes, whatever the names of the layers.
  std::string classPath;
  /// "layer/dense_1/kernel", "optimizer/Adam/dense_1/kernel/momentum": the kind, then the layers below the model as
  /// named by namesByPlace(). It is the same in every process that runs the same code.
  std::string place;
  Variable variable;
  SavedKind kind = SavedKind::layer;
  const OptimizerParts *parts = nullptr; // of the optimizer that owns the variable
  bool isOfDraws = false;                // the state of a user's draws, absent in the file if none were made
};

/// value_error unless the model is built.
void requireBuilt(const Layer &model, const char *task);
/// The variables of weights(), with the names that files use.
std::vector<SavedVariable> savedWeights(const Layer &model);
/// All variables of a model and of its optimizer, which the function builds within the caller's CallTransaction.
/// `compiled` may be null.
std::vector<SavedVariable> savedState(const Layer &model, const CompiledModel *compiled);
/// The variables of an optimizer that is bound to the variables that it updates, and of the loss scale around it.
std::vector<SavedVariable> savedOptimizer(const Layer &model, const Optimizer &optimizer);

/// The metadata keys of a tensor's class path and place.
std::string classPathKey(const std::string &name);
std::string placeKey(const std::string &name);
/// The metadata value of `key`; "" if there is none.
std::string textIn(const Safetensors &contents, const std::string &key);

/// Creates in users' layers the states of draws that the file has but that no draw has made yet, within the caller's
/// CallTransaction.
void awaitSeedStates(const Layer &model, const Safetensors &contents);

/// Adds a consistent snapshot of the variables' values, with their class paths and places, to a file's contents.
void addValues(const std::vector<SavedVariable> &variables, Safetensors &contents);
/// The kind recorded for a tensor; `layer` if there is none.
SavedKind kindIn(const Safetensors &contents, const std::string &name);

using NamedTensor = std::pair<std::string, Tensor>;
struct MatchedValues {
  std::vector<const NamedTensor *> values; // one per variable; null if the file has none
  std::vector<const NamedTensor *> left;   // not matched by any variable
};
/// Matches each variable with a tensor by place. If the file records no places, or lacks the place of a variable other
/// than a loss scale's, matches by names, places or class paths, whichever leaves the fewest tensors unmatched.
MatchedValues matchValues(const Safetensors &contents, const std::vector<SavedVariable> &variables);

/// Returns true if the model's optimizer state is divided among processes. All of them must then make each saving call;
/// one writes.
bool isStateSplit(const Layer &model);
/// Runs `write` for a call that saves the model. If the state is divided among processes, only rank 0 writes, as in
/// writeInFirst().
void writeState(const Layer &model, const std::function<void()> &write);

/// The reason why `variable` cannot take `value`; "" if it can.
std::string mismatch(const SavedVariable &variable, const NamedTensor &value);
/// The value in the variable's dtype. A conversion appends a line to `converted`.
Tensor fitted(const SavedVariable &variable, const NamedTensor &value, std::vector<std::string> &converted);

/// Joins problems into one text: the first ten, then the number of the others.
std::string listed(const std::vector<std::string> &problems);

} // namespace halftone::detail
