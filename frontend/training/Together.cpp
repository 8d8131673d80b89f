// Compares models of processes, and copies the state of rank 0 to the others.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/Together.h"
#include "compiler/codegen/KernelCache.h"
#include "frontend/base/RandomSeeds.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/optimizers/OptimizerParts.h"
#include "frontend/training/ModelState.h"
#include "runtime/base/Sha256.h"
#include <fmt/format.h>
#include <sstream>

namespace halftone::detail {

namespace {

void addLayers(const Layer &layer, std::vector<Fact> &facts) {
  if (!layer.path().empty() && !layer.impl()->transparent)
    facts.emplace_back(
        fmt::format("layer '{}'", layer.path()),
        fmt::format("of class {} with policy {}", layer.class_name(), layer.impl()->resolvedPolicy().name()));
  for (const Layer &child : layer.layers())
    addLayers(child, facts);
}

/// The optimizer's parts; null without an optimizer.
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

/// Each process has a cut of its own.
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

/// The seeds and the count of finished epochs, as text.
void shareCounters(const Layer &model, ProcessGroup &group) {
  std::atomic<int64_t> &epochs = stateOf(model).finishedEpochs;
  std::ostringstream own;
  own << epochs << ' ' << seedSequence();
  std::string first;
  group
      .run([&](Collectives &collectives) -> Status {
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

void addFacts(const std::string &what, const BatchSource &source, std::vector<Fact> &facts) {
  if (!source.areArrays()) {
    facts.emplace_back(what, fmt::format("a dataset of {} batches", source.batches().value_or(-1)));
    return;
  }
  const auto add = [&](const char *part, const Tensors &tensors) {
    for (size_t i = 0; i < tensors.size(); ++i)
      facts.emplace_back(fmt::format("{}: {} {}", what, part, i),
                         fmt::format("{} {}", tensors[i].shape().str(), name(tensors[i].dtype())));
  };
  facts.emplace_back(what, fmt::format("of {} batches", source.batches().value_or(0)));
  add("x", source.arrays().x);
  add("y", source.arrays().y);
  add("sample_weight", source.arrays().sample_weight);
}

void beginTogether(const Layer &model, const CompiledModel *compiled, std::vector<Fact> facts) {
  const std::shared_ptr<ProcessGroup> group = processGroup();
  if (!group)
    return;
  const OptimizerParts *const parts = partsOf(compiled);
  std::vector<Fact> all{{"library build", compiler::buildId()}};
  all.emplace_back("distribution", distribution::distribution()->args().shard_optimizer_state
                                       ? "with shard_optimizer_state"
                                       : "without shard_optimizer_state");
  addLayers(model, all);
  if (compiled) {
    all.emplace_back("optimizer", compiled->optimizer.get_config().dump());
    all.emplace_back("optimizer state", parts->areSplit() ? "split among the processes" : "whole");
    all.emplace_back("numerics", compiled->args.numerics == Numerics::strict ? "strict" : "fast");
  }
  const std::vector<Variable> variables = variablesOf(model, compiled);
  for (const Variable &variable : variables)
    all.emplace_back(
        fmt::format("variable '{}'", variable.path()),
        fmt::format("{} {}", (parts ? parts->wholeShape(variable) : variable.shape()).str(), name(variable.dtype())));
  all.insert(all.end(), std::make_move_iterator(facts.begin()), std::make_move_iterator(facts.end()));
  requireAgreement(*group, all);
  group->run([&](Collectives &collectives) { return broadcastVariables(variables, parts, collectives); }).orThrow();
  shareCounters(model, *group);
}

void requireSameDevices(const CompiledModel &compiled) {
  if (const std::shared_ptr<ProcessGroup> group = processGroup())
    requireAgreement(*group, {{"device", compiled.args.device->kind() == Device::Kind::cpu ? "the CPU" : "a GPU"}});
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
      .run([&](Collectives &collectives) -> Status {
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
