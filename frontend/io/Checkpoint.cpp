// Checkpoints: from a model's variables to a file and back.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/RandomSeeds.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/io/CheckpointFile.h"
#include "frontend/io/SavedVariables.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/training/ModelState.h"
#include "halftone/Saving.h"
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

/// The values that a file gives to the variables of a model.
struct Restoring {
  std::vector<VariableHandle> variables;
  std::vector<Tensor> values;
  std::vector<std::string> converted;
  std::vector<std::string> problems{}; // why the file does not fit the model
};

/// Adds a new loss scale's values to those of the file.
void beginLossScale(const SavedVariable &saved, const Optimizer &optimizer, Restoring &restoring) {
  for (const auto &[variable, value] : initialLossScale(asLossScaleOptimizer(optimizer)))
    if (variable.impl() == saved.variable.impl()) {
      restoring.variables.push_back(variable.impl()->memory);
      restoring.values.push_back(value);
      restoring.converted.push_back(fmt::format("{}: begins anew, the file has none", saved.name));
    }
}

Restoring valuesFor(const Model &model, const CompiledModel *compiled, const Safetensors &contents) {
  awaitSeedStates(model, contents);
  const std::vector<SavedVariable> variables = savedState(model, compiled);
  const MatchedValues matched = matchValues(contents, variables);
  Restoring restoring;
  for (size_t i = 0; i < variables.size(); ++i) {
    const SavedVariable &saved = variables[i];
    const NamedTensor *value = matched.values[i];
    if (!value && saved.kind == SavedKind::loss_scale) {
      beginLossScale(saved, compiled->optimizer, restoring);
      continue;
    }
    if (!value && saved.isOfDraws) {
      restoring.converted.push_back(fmt::format("{}: stays as it is, the file has none", saved.name));
      continue;
    }
    const std::string problem =
        value ? misfit(saved, *value) : fmt::format("the file has no value for {}", quotedName(saved.name));
    if (!problem.empty()) {
      restoring.problems.push_back(problem);
      continue;
    }
    restoring.variables.push_back(saved.variable.impl()->memory);
    restoring.values.push_back(fitted(saved, *value, restoring.converted));
  }
  for (const NamedTensor *value : matched.left)
    if (kindIn(contents, value->first) == SavedKind::loss_scale)
      restoring.converted.push_back(
          fmt::format("{}: not used, the model's optimizer does not scale the loss", value->first));
    else
      restoring.problems.push_back(fmt::format("the model has no variable for {}{}", quotedName(value->first),
                                               compiled ? "" : ", since it is not compiled"));
  return restoring;
}

/// How many updates the optimizer had made at the moment of the saved values.
int64_t stepOf(const OptimizerImpl &optimizer, const std::vector<SavedVariable> &variables,
               const Safetensors &contents) {
  const Variable count = optimizer.callCount();
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].variable.impl() == count.impl())
      return optimizer.updatesAfter(contents.tensors[i].second.astype(DType::int64).item<int64_t>());
  throw Error(ErrorKind::internal_error, "the optimizer's count of updates is none of its variables");
}

} // namespace

Checkpoint::Checkpoint(const Model &model) : model_(model) {}

void Checkpoint::save(const std::string &path) const {
  requireBuilt(model_, "Checkpoint::save()");
  const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model_);
  const CallTransaction reading; // an optimizer that has no state yet is saved as it would begin, and stays so
  const std::vector<SavedVariable> variables = savedState(model_, compiled.get());
  CheckpointFile file{.contents = {}, .epoch = stateOf(model_).finishedEpochs, .step = 0, .seeds = seedSequence()};
  addPolicies(model_, file.contents.metadata);
  addValues(variables, file.contents);
  if (compiled)
    file.step = stepOf(*compiled->optimizer.impl(), variables, file.contents);
  writeState(model_, [&] { writeCheckpointFile(path, std::move(file)); });
}

Checkpoint::Restored Checkpoint::restore(const std::string &path) const {
  requireBuilt(model_, "Checkpoint::restore()");
  const CheckpointFile file = readCheckpointFile(path);
  const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model_);
  CallTransaction transaction;
  Restoring restoring = valuesFor(model_, compiled.get(), file.contents);
  if (!restoring.problems.empty())
    throw Error(ErrorKind::value_error,
                fmt::format("Cannot restore '{}': {}. load_weights() reads the weights alone.", path,
                            listed(restoring.problems)),
                model_.name());
  writeTogether(restoring.variables, restoring.values).orThrow();
  transaction.commit();
  setSeedSequence(file.seeds);
  stateOf(model_).finishedEpochs = file.epoch;
  ++stateOf(model_).restores;
  return {file.epoch, file.step, std::move(restoring.converted)};
}

} // namespace halftone
