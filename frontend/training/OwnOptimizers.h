// The optimizers that a model's steps use in addition to compile()'s, and their states in checkpoints.
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

/// Values for variables from a file.
struct FileState {
  std::vector<VariableHandle> variables;
  std::vector<Tensor> values;
  std::vector<std::string> converted;  // as in Checkpoint::Restored
  std::vector<std::string> problems{}; // reasons why the file does not match the variables
};

/// The state in a checkpoint for one optimizer of a model's steps. A new process restores before its first step, which
/// determines the optimizers, so the state may have to wait for that step.
class AwaitedState {
public:
  virtual ~AwaitedState() = default;
  /// The values for an optimizer whose variables are known. Layers are found by their positions below `model`.
  virtual FileState valuesFor(const Layer &model, const Optimizer &optimizer) const = 0;
  /// Returns true if its values, apart from those of a loss scale, are for exactly the places of the optimizer's
  /// variables.
  virtual bool hasPlacesOf(const Layer &model, const Optimizer &optimizer) const = 0;
  /// A clause that names the state and the optimizer, and says why they do not match.
  virtual std::string refusal(const Layer &model, const Optimizer &optimizer) const = 0;
  /// The path of the file.
  virtual std::string file() const = 0;
};
using AwaitedStates = std::map<int64_t, std::shared_ptr<const AwaitedState>>; // by their numbers in the file

/// An optimizer of the steps, known to the model from the first trace that uses it, and the state that it took then.
struct OwnOptimizer {
  explicit OwnOptimizer(const Optimizer &optimizer) : optimizer(optimizer) {}
  Optimizer optimizer;
  StateOnDemand used;
  bool isKnown = false;  // true if a trace has used it and it has taken the waiting state
  AwaitedStates taken{}; // one or none; returned if that trace is undone, like the values
  FileState before{};
};

/// The assignment of states to optimizers.
struct MatchedStates {
  struct Of {
    std::optional<int64_t> number; // of the state; nullopt if there is none for the optimizer
    FileState values{};
  };
  std::vector<Of> states; // one per optimizer
  AwaitedStates left;     // that no optimizer takes
  std::string problem{};  // reason why an optimizer without a state takes none of the remaining ones
  std::string file{};     // of that state
};
/// Assigns to each optimizer, in order, the first matching state for which hasPlacesOf() holds, otherwise any matching
/// state.
MatchedStates matchStates(const Layer &model, const std::vector<Optimizer> &optimizers, const AwaitedStates &states);

/// Registers the optimizers recorded by a step with the model, except compile()'s, and gives them the waiting states.
/// value_error if states wait and none matches. The open transaction undoes it.
void adoptOptimizers(const Layer &model, const CompiledModel &compiled, const std::vector<Optimizer> &recorded);
/// A consistent snapshot of the optimizers of the steps and their states.
struct OwnOptimizers {
  std::vector<Optimizer> known; // in order of first use
  AwaitedStates awaited;        // for optimizers of future steps
};
/// Excludes compile()'s optimizer; `compiled` may be null.
OwnOptimizers ownOptimizers(const Layer &model, const CompiledModel *compiled);
/// Replaces the waiting states.
void awaitStates(const Layer &model, AwaitedStates states);

} // namespace halftone::detail
