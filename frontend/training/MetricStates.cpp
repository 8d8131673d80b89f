// Provides each run with variables for its metrics.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/MetricStates.h"
#include "frontend/graph/Variables.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>

namespace halftone::detail {

MetricStates::Slot::Slot(MetricStates &states) : states_(states) {
  const ForkSafeLock lock(states_.mutex_);
  const auto free = std::ranges::find(states_.states_, false, &State::isTaken);
  index_ = static_cast<size_t>(free - states_.states_.begin());
  if (free == states_.states_.end())
    states_.states_.emplace_back();
  states_.states_[index_].isTaken = true;
}

MetricStates::Slot::~Slot() {
  const ForkSafeLock lock(states_.mutex_);
  states_.states_[index_].isTaken = false;
}

/// Returns true if `substitutes` contains the variable, on its device.
static bool have(const VariableSubstitutes &substitutes, const Variable &variable) {
  const auto found = substitutes.find(variable.impl()->memory);
  return found != substitutes.end() && found->second->sharedDevice() == variable.impl()->memory->sharedDevice();
}
/// Returns true if the substitutes are exactly those of the variables `own`.
static bool fits(const VariableSubstitutes &substitutes, const std::vector<Variable> &own) {
  return substitutes.size() == own.size() &&
         std::ranges::all_of(own, [&](const Variable &variable) { return have(substitutes, variable); });
}

/// A variable like `own`, with its initial value.
static VariableHandle another(const VariableImpl &own, const InitialValues &initial) {
  const VariableFacts facts{.name = own.name, .path = own.path};
  const auto value = initial.find(&own);
  const Variable made =
      value == initial.end() ? makeZeros(own.shape, own.dtype, facts) : makeVariable(value->second, facts);
  return made.impl()->memory;
}

std::shared_ptr<const VariableSubstitutes> MetricStates::Slot::substitutes(const std::vector<Variable> &own,
                                                                           const InitialValues &initial) const {
  if (index_ == 0)
    return nullptr;
  std::shared_ptr<const VariableSubstitutes> kept;
  {
    const ForkSafeLock lock(states_.mutex_);
    kept = states_.states_[index_].substitutes;
    if (kept && fits(*kept, own))
      return kept;
  }
  auto made = std::make_shared<VariableSubstitutes>();
  for (const Variable &variable : own) {
    const VariableImpl &impl = *variable.impl();
    if (kept && have(*kept, variable)) // a step with other metrics, whose sums continue
      made->emplace(impl.memory, kept->at(impl.memory));
    else
      made->emplace(impl.memory, another(impl, initial));
  }
  const ForkSafeLock lock(states_.mutex_);
  states_.states_[index_].substitutes = made;
  return made;
}

} // namespace halftone::detail
