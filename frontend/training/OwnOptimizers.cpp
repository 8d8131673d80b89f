// Tracks the optimizers of a model's steps, and gives them their states from a checkpoint.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/OwnOptimizers.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/training/ModelState.h"
#include "frontend/training/Trainer.h"
#include "halftone/Error.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace halftone::detail {

namespace {

using Entry = std::shared_ptr<OwnOptimizer>;

/// Returns true for compile()'s optimizer, or the one that compile() has wrapped.
bool isOfCompile(const CompiledModel &compiled, const Optimizer &optimizer) {
  const Optimizer &own = compiled.optimizer;
  return optimizer.impl() == own.impl() ||
         (isLossScaleOptimizer(own) && optimizer.impl() == asLossScaleOptimizer(own).inner_optimizer().impl());
}

Entry entryOf(std::vector<Entry> &all, const Optimizer &optimizer) {
  const auto found =
      std::ranges::find_if(all, [&](const Entry &each) { return each->optimizer.impl() == optimizer.impl(); });
  return found == all.end() ? all.emplace_back(std::make_shared<OwnOptimizer>(optimizer)) : *found;
}

/// Writes the values of the state with this number, if there is one, and marks the optimizer as the last known one.
void take(ModelState &model, const Entry &entry, MatchedStates::Of own) {
  if (own.number) {
    entry->before = {own.values.variables, readTogether(own.values.variables).valueOrThrow(), {}};
    writeTogether(own.values.variables, own.values.values).orThrow();
  }
  const ForkSafeLock lock(model.mutex);
  if (own.number)
    if (auto state = model.awaitedStates.extract(*own.number))
      entry->taken.insert(std::move(state));
  std::erase(model.ownOptimizers, entry);
  model.ownOptimizers.push_back(entry);
  entry->isKnown = true;
}
void giveBack(ModelState &model, const Entry &entry) {
  // The error that undoes the trace takes precedence.
  (void)writeTogether(entry->before.variables, entry->before.values);
  entry->before = {};
  const ForkSafeLock lock(model.mutex);
  model.awaitedStates.merge(entry->taken);
  entry->taken.clear();
  entry->isKnown = false;
  std::erase(model.ownOptimizers, entry);
}

} // namespace

MatchedStates matchStates(const Layer &model, const std::vector<Optimizer> &optimizers, const AwaitedStates &states) {
  MatchedStates matched{.states = std::vector<MatchedStates::Of>(optimizers.size()), .left = states};
  for (const bool isAnywhere : {false, true})
    for (size_t i = 0; i < optimizers.size(); ++i) {
      MatchedStates::Of &own = matched.states[i];
      if (own.number)
        continue;
      for (auto state = matched.left.begin(); state != matched.left.end() && !own.number; ++state)
        if (isAnywhere || state->second->hasPlacesOf(model, optimizers[i]))
          if (FileState values = state->second->valuesFor(model, optimizers[i]); values.problems.empty())
            own = {state->first, std::move(values)};
      if (own.number)
        matched.left.erase(*own.number);
    }
  const auto without = std::ranges::find_if(matched.states, [](const auto &own) { return !own.number; });
  if (without != matched.states.end() && !matched.left.empty()) {
    const AwaitedState &first = *matched.left.begin()->second;
    matched.problem = first.refusal(model, optimizers[static_cast<size_t>(without - matched.states.begin())]);
    matched.file = first.file();
  }
  return matched;
}

void adoptOptimizers(const Layer &model, const CompiledModel &compiled, const std::vector<Optimizer> &recorded) {
  ModelState &state = stateOf(model);
  std::vector<Entry> known, begun;
  std::vector<Optimizer> optimizers; // of `begun`
  AwaitedStates awaited;
  {
    const ForkSafeLock lock(state.mutex);
    awaited = state.awaitedStates;
    for (const Optimizer &optimizer : recorded)
      if (!isOfCompile(compiled, optimizer)) {
        const Entry entry = entryOf(state.ownOptimizers, optimizer);
        (entry->used.isMade() ? known : begun).push_back(entry);
      }
  }
  for (const Entry &entry : begun)
    optimizers.push_back(entry->optimizer);
  MatchedStates matched = matchStates(model, optimizers, awaited);
  if (!matched.problem.empty())
    throw Error(ErrorKind::value_error,
                fmt::format("Training cannot resume from '{}': {}", matched.file, matched.problem), model.name());
  matched.states.resize(begun.size() + known.size());
  begun.insert(begun.end(), known.begin(), known.end());
  for (size_t i = 0; i < begun.size(); ++i)
    begun[i]->used.require([&] { take(state, begun[i], std::move(matched.states[i])); },
                           [model, entry = begun[i]] { giveBack(stateOf(model), entry); });
}

OwnOptimizers ownOptimizers(const Layer &model, const CompiledModel *compiled) {
  ModelState &state = stateOf(model);
  OwnOptimizers own;
  const ForkSafeLock lock(state.mutex);
  for (const Entry &entry : state.ownOptimizers)
    if (compiled && entry->isKnown && !isOfCompile(*compiled, entry->optimizer))
      own.known.push_back(entry->optimizer);
  own.awaited = state.awaitedStates;
  return own;
}
void awaitStates(const Layer &model, AwaitedStates states) {
  ModelState &state = stateOf(model);
  const ForkSafeLock lock(state.mutex);
  state.awaitedStates.swap(states);
}

} // namespace halftone::detail
