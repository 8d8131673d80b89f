// Checkpoints: saves a model's variables to a file and restores them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/RandomSeeds.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/io/CheckpointFile.h"
#include "frontend/io/OptimizerStates.h"
#include "frontend/io/SavedVariables.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/training/FitProgress.h"
#include "frontend/training/ModelState.h"
#include "halftone/Saving.h"
#include "runtime/base/ForkGate.h"
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

void addPolicies(const Layer &model, std::map<std::string, std::string> &metadata) {
  std::vector<Layer> layers = layersBelow(*model.impl());
  layers.push_back(model);
  for (const Layer &layer : layers)
    if (!layer.path().empty() && !layer.impl()->transparent)
      metadata.emplace("policy:" + layer.path(), layer.impl()->resolvedPolicy().name());
}

/// The contents of a file for a model: values of its variables, and states whose optimizers do not exist yet.
struct Restoring {
  FileState state;
  AwaitedStates awaited{};
};
Restoring valuesFor(const Model &model, const CompiledModel *compiled, Safetensors &contents, const std::string &path) {
  AwaitedStates states = takeStates(contents, path);
  awaitSeedStates(model, contents);
  Restoring restoring{stateIn(contents, savedState(model, compiled), compiled ? &compiled->optimizer : nullptr),
                      std::move(states)};
  if (!compiled)
    return restoring;
  const std::vector<Optimizer> own = ownOptimizers(model, compiled).known;
  MatchedStates matched = matchStates(model, own, restoring.awaited);
  FileState &all = restoring.state;
  for (size_t i = 0; i < own.size(); ++i) {
    const auto &[number, values] = matched.states[i];
    if (!number)
      all.converted.push_back(
          fmt::format("the optimizer '{}' of the step: unchanged, since the file has none", own[i].name()));
    all.variables.insert(all.variables.end(), values.variables.begin(), values.variables.end());
    all.values.insert(all.values.end(), values.values.begin(), values.values.end());
    all.converted.insert(all.converted.end(), values.converted.begin(), values.converted.end());
  }
  if (!matched.problem.empty())
    all.problems.push_back(matched.problem);
  restoring.awaited = std::move(matched.left);
  return restoring;
}

/// The number of updates the optimizer had made when the values were saved.
int64_t stepOf(const OptimizerImpl &optimizer, const std::vector<SavedVariable> &variables,
               const Safetensors &contents) {
  const Variable count = optimizer.callCount();
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].variable.impl() == count.impl())
      return optimizer.updatesAfter(contents.tensors[i].second.astype(DType::int64).item<int64_t>());
  throw Error(ErrorKind::internal_error, "the optimizer's count of updates is not one of its variables");
}

} // namespace

Checkpoint::Checkpoint(const Model &model) : model_(model) {}

void Checkpoint::save(const std::string &path) const {
  requireBuilt(model_, "Checkpoint::save()");
  const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model_);
  const CallTransaction reading; // discards the state created here: an optimizer without state is saved as initialized
  std::vector<SavedVariable> variables = savedState(model_, compiled.get());
  CheckpointFile file{.contents = {},
                      .epoch = stateOf(model_).finishedEpochs,
                      .step = 0,
                      .seeds = seedSequence(),
                      .position = FitProgress::positionOf(model_)};
  addPolicies(model_, file.contents.metadata);
  const OwnOptimizers own = ownOptimizers(model_, compiled.get());
  for (size_t i = 0; i < own.known.size(); ++i)
    for (SavedVariable &saved : savedOwnOptimizer(model_, own.known[i], static_cast<int64_t>(i)))
      variables.push_back(std::move(saved));
  addValues(variables, file.contents);
  addStates(own.awaited, static_cast<int64_t>(own.known.size()), file.contents);
  if (compiled)
    file.step = stepOf(*compiled->optimizer.impl(), variables, file.contents);
  writeState(model_, [&] { writeCheckpointFile(path, std::move(file)); });
}

Checkpoint::Restored Checkpoint::restore(const std::string &path) const {
  requireBuilt(model_, "Checkpoint::restore()");
  CheckpointFile file = readCheckpointFile(path);
  const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model_);
  CallTransaction transaction;
  Restoring restoring = valuesFor(model_, compiled.get(), file.contents, path);
  FileState &state = restoring.state;
  if (!state.problems.empty())
    throw Error(
        ErrorKind::value_error,
        fmt::format("Cannot restore '{}': {}. load_weights() reads only the weights.", path, listed(state.problems)),
        model_.name());
  writeTogether(state.variables, state.values).orThrow();
  transaction.commit();
  awaitStates(model_, std::move(restoring.awaited));
  setSeedSequence(file.seeds);
  ModelState &own = stateOf(model_);
  own.finishedEpochs = file.epoch;
  const int64_t batch = file.position ? file.position->batch : 0;
  {
    const ForkSafeLock lock(own.mutex);
    own.restoredPosition = file.position ? std::make_shared<DataPosition>(std::move(*file.position)) : nullptr;
  }
  ++own.restores;
  return {file.epoch, batch, file.step, std::move(state.converted)};
}

} // namespace halftone
