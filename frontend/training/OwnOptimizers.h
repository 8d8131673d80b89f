// The optimizers that a model's steps use besides compile()'s, and the states that checkpoints hold for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/StateOnDemand.h"
#include "frontend/graph/Variables.h"
#include "halftone/Layer.h"
#include "halftone/Optimizers.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

struct CompiledModel;

/// The values that a file gives to variables.
struct FileState {
  std::vector<VariableHandle> variables;
  std::vector<Tensor> values;
  std::vector<std::string> converted;  // as Checkpoint::Restored
  std::vector<std::string> problems{}; // why the file does not fit the variables
};

/// The state that a checkpoint holds for one optimizer of a model's steps. A new process restores before its first step, which
/// tells which optimizers there are, so the state may have to wait for that step.
class AwaitedState {
public:
  virtual ~AwaitedState() = default;
  /// The values for an optimizer that knows its variables. Layers are found by their places below `model`.
  virtual FileState valuesFor(const Layer &model, const Optimizer &optimizer) const = 0;
  /// Whether it has a value for each place of the optimizer's variables and no others, but for a loss scale.
  virtual bool hasPlacesOf(const Layer &model, const Optimizer &optimizer) const = 0;
  /// A clause that names the state and the optimizer, and says why they do not belong together.
  virtual std::string refusal(const Layer &model, const Optimizer &optimizer) const = 0;
  /// The path of the file.
  virtual std::string file() const = 0;
};
using AwaitedStates = std::map<int64_t, std::shared_ptr<const AwaitedState>>; // by their numbers in the file

/// An optimizer of the steps, which the model knows from the first trace that uses it, and the state that it took then.
struct OwnOptimizer {
  explicit OwnOptimizer(const Optimizer &optimizer) : optimizer(optimizer) {}
  Optimizer optimizer;
  StateOnDemand used;
  bool isKnown = false;  // a trace has used it, and it has the state that waited
  AwaitedStates taken{}; // one or none; to be given back if that trace is undone, like the values
  FileState before{};
};

/// The states that optimizers take.
struct MatchedStates {
  struct Of {
    std::optional<int64_t> number; // of the state; nullopt if there is none for the optimizer
    FileState values{};
  };
  std::vector<Of> states; // one per optimizer
  AwaitedStates left;     // that no optimizer takes
  std::string problem{};  // why an optimizer without a state takes none of those that are left
  std::string file{};     // of that state
};
/// Gives each optimizer, in order, the first state that fits it and has its places, and then one that fits.
MatchedStates matchStates(const Layer &model, const std::vector<Optimizer> &optimizers, const AwaitedStates &states);

/// Makes the optimizers that a step of the model has recorded known to it, but for compile()'s, and gives them the states that
/// wait. value_error if states wait and none fits. The transaction that is open undoes it.
void adoptOptimizers(const Layer &model, const CompiledModel &compiled, const std::vector<Optimizer> &recorded);
/// The optimizers of the steps and their states at one moment.
struct OwnOptimizers {
  std::vector<Optimizer> known; // in the order of their first use
  AwaitedStates awaited;        // of optimizers of steps to come
};
/// Without compile()'s optimizer; `compiled` may be null.
OwnOptimizers ownOptimizers(const Layer &model, const CompiledModel *compiled);
/// From now on these states wait, and no others.
void awaitStates(const Layer &model, AwaitedStates states);

} // namespace halftone::detail
