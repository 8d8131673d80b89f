// Compares models across processes, and copies the state of rank 0 to the others.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/Together.h"
#include "frontend/base/RandomSeeds.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/optimizers/OptimizerParts.h"
#include "frontend/training/CallFacts.h"
#include "frontend/training/ModelState.h"
#include "runtime/PlanCollectives.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/Sha256.h"
#include "runtime/communication/HostWrites.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace halftone::detail {

namespace {

/// The optimizer's parts; null if there is no optimizer.
const OptimizerParts *partsOf(const CompiledModel *compiled) {
  return compiled ? &compiled->optimizer.impl()->parts() : nullptr;
}

std::vector<Variable> variablesOf(const Layer &model, const CompiledModel *compiled) {
  std::vector<Variable> variables = model.variables();
  if (compiled)
    for (const Variable &variable : compiled->optimizer.impl()->allVariables())
      variables.push_back(variable);
  return variables;
}

/// Broadcasts the values of rank 0. Divided slots are skipped, since each process has its own cut.
Status broadcastVariables(const std::vector<Variable> &variables, const OptimizerParts *parts,
                          Collectives &collectives) {
  for (const Variable &variable : variables) {
    if (parts && parts->isCut(variable))
      continue;
    StoredVariable &memory = *variable.impl()->memory;
    std::vector<std::byte> bytes(static_cast<size_t>(memory.type().bytes()));
    HALFTONE_RETURN_IF_ERROR(memory.readBytes(bytes));
    HALFTONE_RETURN_IF_ERROR(collectives.broadcast(bytes));
    if (collectives.rank() > 0)
      HALFTONE_RETURN_IF_ERROR(memory.writeBytes(bytes));
  }
  return {};
}

/// Copies the seeds and the count of finished epochs of rank 0 to all processes, as text.
void shareCounters(const Layer &model, ProcessGroup &group) {
  std::atomic<int64_t> &epochs = stateOf(model).finishedEpochs;
  std::ostringstream own;
  own << epochs << ' ' << seedSequence();
  std::string first;
  group
      .run("the seeds of rank 0",
           [&](Collectives &collectives) -> Status {
             StatusOr<std::vector<std::string>> all = collectives.gather(own.str());
             HALFTONE_RETURN_IF_ERROR(all.status());
             first = std::move(all->front());
             return {};
           })
      .orThrow();
  std::istringstream shared(first);
  int64_t finished = 0;
  std::mt19937_64 seeds = seedSequence();
  shared >> finished >> seeds;
  epochs = finished;
  setSeedSequence(seeds);
}

} // namespace

TogetherCall::TogetherCall(const char *call) : scope_(call), call_(call) {}

void TogetherCall::agree(const Layer &model, const std::function<void(std::vector<Fact> &)> &add) const {
  const std::shared_ptr<ProcessGroup> group = processGroup();
  if (!group)
    return;
  HostWrites::forget();
  std::vector<Fact> facts{{"call", call_}};
  addSettings(facts);
  add(facts);
  addModel(model, facts);
  addCompiled(compiledIfAny(model).get(), facts);
  requireAgreement(*group, facts);
}

/// Watches variables: values that the host writes to them are compared at the next step.
static void watch(const Layer &model, const CompiledModel &compiled) {
  std::vector<Variable> variables = model.variables();
  for (const Variable &variable : compiled.optimizer.variables())
    variables.push_back(variable);
  for (const Variable &variable : compiled.optimizer.impl()->allVariables())
    if (variable.impl()->role == VariableRole::learning_rate && variable.name() == "learning_rate")
      variables.push_back(variable);
  for (const Variable &variable : variables)
    if (!compiled.optimizer.impl()->parts().isCut(variable)) // each process has its own values
      variable.impl()->memory->watch();
}

void beginTogether(const Layer &model, CompiledModel *compiled) {
  const std::shared_ptr<ProcessGroup> group = processGroup();
  if (!group)
    return;
  const OptimizerParts *const parts = partsOf(compiled);
  std::vector<Fact> facts;
  if (compiled)
    facts.emplace_back("optimizer state", parts->areSplit() ? "split among the processes" : "whole");
  const std::vector<Variable> variables = variablesOf(model, compiled);
  for (const Variable &variable : variables)
    facts.emplace_back(
        fmt::format("variable '{}'", variable.path()),
        fmt::format("{} {}", (parts ? parts->wholeShape(variable) : variable.shape()).str(), name(variable.dtype())));
  requireAgreement(*group, facts);
  group
      ->run("the weights of rank 0",
            [&](Collectives &collectives) { return broadcastVariables(variables, parts, collectives); })
      .orThrow();
  shareCounters(model, *group);
  if (!compiled)
    return;
  watch(model, *compiled);
  compiled->begunTogether = true;
}

/// The key of a program for these feeds, each of which gets `allRows` rows.
static std::string keyOf(const char *program, std::vector<TensorType> &feeds, int64_t allRows) {
  std::string key = fmt::format("{} {}", program, configurationEpoch());
  for (TensorType &type : feeds) {
    if (!type.shape.empty())
      type.shape.front() = allRows;
    key += fmt::format(" {}[{}]", name(type.dtype), fmt::join(type.shape, ","));
  }
  return key;
}

void agreeOnStep(const Layer &model, CompiledModel &compiled, CompiledFunction &program, const StepFeeds &feeds) {
  const std::shared_ptr<ProcessGroup> group = processGroup();
  if (!group)
    return;
  const bool isTraining = &program == &compiled.train;
  std::vector<TensorType> whole(feeds.types.begin(), feeds.types.end() - 2); // without the row counts
  const std::string key = keyOf(isTraining ? "train" : "test", whole, feeds.allRows);
  if (compiled.agreedSteps.contains(key))
    return;
  std::vector<Fact> facts;
  FeedLayout layout = feeds.layout;
  layout.allRows = layout.groups.back() = 0; // the single-process program: joint programs differ in their rows
  const bool updates = isTraining && !compiled.optimizer.impl()->parts().areSplit(); // else each updates other elements
  addLines(updates ? program.ir(Stage::graph, whole, layout) : lossText(model, compiled, isTraining, whole, layout),
           facts);
  const std::shared_ptr<Player> player = program.player(feeds.types, feeds.layout);
  for (const std::string &collective : PlanCollectives::names(player->executable().plan))
    facts.emplace_back("collective", collective);
  requireAgreement(*group, facts);
  compiled.agreedSteps.insert(key);
}

void agreeOnPrediction(const Layer &model, CompiledFunction &program, const std::vector<Tensor> &x, int64_t allRows) {
  const std::shared_ptr<ProcessGroup> group = processGroup();
  if (!group)
    return;
  std::vector<TensorType> whole = typesOf(x);
  const std::string key = keyOf("predict", whole, allRows);
  if (stateOf(model).agreedPrograms.contains(key))
    return;
  std::vector<Fact> facts;
  addLines(program.ir(Stage::graph, whole), facts);
  requireAgreement(*group, facts);
  stateOf(model).agreedPrograms.insert(key);
}

void requireSameWeights(const Layer &model, ProcessGroup &group) {
  const std::vector<Variable> variables = model.variables();
  std::string digests;
  for (const Variable &variable : variables) {
    const StoredVariable &memory = *variable.impl()->memory;
    std::string bytes(static_cast<size_t>(memory.type().bytes()), '\0');
    memory.readBytes(std::as_writable_bytes(std::span(bytes))).orThrow();
    digests += sha256(bytes);
  }
  std::vector<std::string> all;
  group
      .run("the comparison of weights",
           [&](Collectives &collectives) -> Status {
             StatusOr<std::vector<std::string>> gathered = collectives.gather(digests);
             HALFTONE_RETURN_IF_ERROR(gathered.status());
             all = *std::move(gathered);
             return {};
           })
      .orThrow();
  const size_t width = sha256("").size();
  for (size_t rank = 1; rank < all.size(); ++rank)
    for (size_t i = 0; i < variables.size(); ++i)
      if (all[rank].compare(i * width, width, all[0], i * width, width) != 0)
        throw Error(ErrorKind::runtime_error,
                    fmt::format("The weights of rank {} are not those of rank 0: the first that differs is '{}'", rank,
                                variables[i].path()),
                    model.name());
}

} // namespace halftone::detail
