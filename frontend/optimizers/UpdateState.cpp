// The state of an UpdateRule: slot variables, their division among processes, and the transactions that build them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/CallTransaction.h"
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

Variable UpdateRule::makeSlot(const Variable &variable, const SlotSpec &slot) {
  const VariableImpl &like = *variable.impl();
  std::string slotName = like.path + "_" + slot.name;
  std::replace(slotName.begin(), slotName.end(), '/', '_');
  const Shape whole = slot.shape.value_or(like.shape), own = slot.isWhole ? whole : parts_.cut(variable, whole);
  checkMemoryFor(fmt::format("{}: slot '{}'", name, slotName), own, like.dtype);
  const VariableFacts facts{.name = slotName,
                            .path = name + "/" + slotName,
                            .role = VariableRole::slot,
                            .update = UpdateKind::assign,
                            .trainable = false,
                            .autocast = false};
  const Variable made = slot.isCopy         ? makeVariable(parts_.cut(variable, variable.value()), facts)
                        : slot.initial == 0 ? makeZeros(own, like.dtype, facts)
                                            : makeVariable(Tensor::full(own, slot.initial, like.dtype), facts);
  if (!slot.isWhole)
    parts_.addSlot(made, variable, whole);
  return made;
}

void UpdateRule::divide(const std::vector<Variable> &variables) {
  std::vector<bool> isWhole, overwritten;
  for (const Variable &variable : variables) {
    isWhole.push_back(!isElementwise() || variable.impl()->constraint.defined());
    overwritten.push_back(isOverwritten(variable));
  }
  parts_.divide(variables, isWhole, overwritten);
}

void UpdateRule::split(int64_t rank, int64_t processes) {
  parts_.split(rank, processes);
  bumpConfigurationEpoch();
  if (!isBuilt())
    return;
  divide(known_);
  std::vector<std::pair<Variable, Variable>> cuts; // a slot, and a variable with its cut
  for (size_t i = 0; i < known_.size(); ++i) {
    std::vector<Variable> own = slotsOf_[i];
    if (averages_[i].defined())
      own.push_back(averages_[i]);
    if (accumulators_[i].defined() && !clipsByNorm())
      own.push_back(accumulators_[i]);
    for (const Variable &slot : own) {
      const VariableImpl &impl = *slot.impl();
      cuts.emplace_back(slot,
                        makeVariable(parts_.cut(known_[i], slot.value()), {.name = impl.name, .path = impl.path}));
      parts_.addSlot(slot, known_[i], impl.shape);
    }
  }
  for (const auto &[slot, cut] : cuts) {
    slot.impl()->memory = cut.impl()->memory;
    slot.impl()->shape = cut.impl()->shape;
  }
}

void UpdateRule::build(const std::vector<Variable> &variables) {
  if (variables.empty() && !isBuilt())
    return;
  if (!isBuilt() && !CallTransaction::isOpen()) // its caller has not determined whether the state persists
    throw Error(ErrorKind::internal_error, fmt::format("{}: its state is created outside of a transaction", name));
  state_.require([&] { makeVariables(variables); },
                 [self = std::static_pointer_cast<UpdateRule>(shared_from_this())] { self->forgetVariables(); });
}

void UpdateRule::makeVariables(const std::vector<Variable> &variables) {
  // Creates all variables before storing any, so a failure changes nothing.
  std::vector<Variable> slots, averages(variables.size()), accumulators(variables.size());
  std::map<const VariableImpl *, size_t> index;
  std::vector<std::vector<Variable>> slotsOf(variables.size());
  for (const Variable &variable : variables)
    index.emplace(variable.impl().get(), index.size());
  if (index.size() != variables.size())
    throw Error(ErrorKind::value_error, fmt::format("{}: a variable was given twice", name));
  if (parts_.areSplit())
    divide(variables);
  std::vector<std::pair<Variable, Variable>> copies;
  auto add = [&](const Variable &variable, const SlotSpec &slot) {
    slots.push_back(makeSlot(variable, slot));
    if (slot.isCopy)
      copies.emplace_back(slots.back(), variable);
    return slots.back();
  };
  if (args_.useEma)
    for (size_t i = 0; i < variables.size(); ++i)
      if (!isOverwritten(variables[i]))
        averages[i] = add(variables[i], {"average"});
  if (args_.accumulationSteps)
    for (size_t i = 0; i < variables.size(); ++i)
      accumulators[i] = add(variables[i], {.name = "gradient_accumulator", .isWhole = clipsByNorm()});
  std::vector<std::vector<std::vector<SlotSpec>>> groups; // indexed by variable
  for (const Variable &variable : variables)
    groups.push_back(isOverwritten(variable) ? overwrittenSlotGroups(variable) : slotGroups(variable));
  for (size_t group = 0, count = 1; group < count; ++group)
    for (size_t i = 0; i < variables.size(); ++i) {
      count = std::max(count, groups[i].size());
      if (group < groups[i].size())
        for (const SlotSpec &slot : groups[i][group])
          slotsOf[i].push_back(add(variables[i], slot));
    }
  makeState(atLeastFloat32(variables.front().dtype()));
  slots_ = std::move(slots);
  index_ = std::move(index);
  slotsOf_ = std::move(slotsOf);
  copies_ = std::move(copies);
  averages_ = std::move(averages);
  accumulators_ = std::move(accumulators);
  known_ = variables;
}

void UpdateRule::forgetVariables() {
  known_.clear();
  slots_.clear();
  index_.clear();
  slotsOf_.clear();
  copies_.clear();
  averages_.clear();
  accumulators_.clear();
  if (parts_.areSplit())
    parts_.divide({}, {}, {});
}

} // namespace halftone::detail
