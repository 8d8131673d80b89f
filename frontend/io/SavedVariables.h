// The names of variables in files, and how a file's values find variables of another policy or with other names.
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

/// What a file keeps a variable for. A class path begins with it.
enum class SavedKind : uint8_t { layer, seed, optimizer, loss_scale, own_optimizer };

struct SavedVariable {
  std::string name; // its path; where a path repeats, "#2" and so on follow
  /// "layer/Sequential/Dense_1/kernel": the kind, then classes instead of names. It is the same in each model of the
  /// same classes, whatever names its layers have.
  std::string classPath;
  /// "layer/dense_1/kernel", "optimizer/Adam/dense_1/kernel/momentum": the kind, then the layers below the model by
  /// namesByPlace(). It is the same in each process that runs the same code.
  std::string place;
  Variable variable;
  SavedKind kind = SavedKind::layer;
  const OptimizerParts *parts = nullptr; // of the optimizer that has the variable
  bool isOfDraws = false; // the state of a user's draws, which a file of a model that had not drawn lacks
};

/// value_error unless the model is built.
void requireBuilt(const Layer &model, const char *task);
/// weights(), as files name them.
std::vector<SavedVariable> savedWeights(const Layer &model);
/// All variables of a model and of its optimizer, which the function builds within the caller's CallTransaction; `compiled`
/// may be null.
std::vector<SavedVariable> savedState(const Layer &model, const CompiledModel *compiled);
/// The variables of an optimizer that knows those that it updates, and of the loss scale around it.
std::vector<SavedVariable> savedOptimizer(const Layer &model, const Optimizer &optimizer);

/// The keys of a tensor's metadata that hold its class path and its place.
std::string classPathKey(const std::string &name);
std::string placeKey(const std::string &name);
/// The text of the metadata; "" if there is none.
std::string textIn(const Safetensors &contents, const std::string &key);

/// Gives users' layers the states of draws that the file has and that no draw has made yet, within the caller's
/// CallTransaction.
void awaitSeedStates(const Layer &model, const Safetensors &contents);

/// Adds the values of variables, all of one moment, their class paths and their places to a file's contents.
void addValues(const std::vector<SavedVariable> &variables, Safetensors &contents);
/// The kind that a file gives a tensor; `layer` if it gives none.
SavedKind kindIn(const Safetensors &contents, const std::string &name);

using NamedTensor = std::pair<std::string, Tensor>;
struct MatchedValues {
  std::vector<const NamedTensor *> values; // one per variable; null if the file has none
  std::vector<const NamedTensor *> left;   // that no variable takes
};
/// Finds the value of each variable by its place. If the file gives no places, or lacks that of a variable other than a loss
/// scale's, by the names, the places or the class paths, whichever leave the fewest tensors of the file.
MatchedValues matchValues(const Safetensors &contents, const std::vector<SavedVariable> &variables);

/// Whether processes divide the state of the model's optimizer. All of them then make a call that saves it, and one writes.
bool isStateSplit(const Layer &model);
/// Writes the file of a call that saves the model: if processes divide its state, in rank 0, and for the others as
/// writeInFirst().
void writeState(const Layer &model, const std::function<void()> &write);

/// Why `variable` cannot take `value`; "" if it can.
std::string misfit(const SavedVariable &variable, const NamedTensor &value);
/// The value in the variable's dtype. A conversion adds a line to `converted`.
Tensor fitted(const SavedVariable &variable, const NamedTensor &value, std::vector<std::string> &converted);

/// Problems as one text: the first ten, then how many more there are.
std::string listed(const std::vector<std::string> &problems);

} // namespace halftone::detail
