// Divides variables among processes, and gathers their parts.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/OptimizerParts.h"
#include "frontend/base/ProcessRun.h"
#include "frontend/graph/Promotion.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <queue>
#include <ranges>
#include <tuple>

namespace halftone::detail {

/// Ranges begin at multiples of this, so that ranges of floats are aligned to cache lines.
static constexpr int64_t stride = 16;

Division::Range Division::of(int64_t elements, int64_t rank) const {
  if (owner >= 0)
    return {0, rank == owner ? elements : 0};
  const auto boundary = [&](int64_t number) {
    return number == processes ? elements : elements / stride * number / processes * stride;
  };
  return {boundary(rank), boundary(rank + 1)};
}

std::vector<int64_t> Division::offsets(int64_t elements) const {
  std::vector<int64_t> offsets{0};
  for (int64_t rank = 0; rank < processes; ++rank)
    offsets.push_back(offsets.back() + of(elements, rank).count());
  return offsets;
}

void OptimizerParts::split(int64_t rank, int64_t processes) {
  rank_ = rank;
  processes_ = processes;
}

/// The owner of each variable that is not divided, by index, and -1 for the others.
static std::vector<int64_t> ownersOf(const std::vector<Variable> &variables, const std::vector<bool> &isWhole,
                                     int64_t processes) {
  std::vector<int64_t> owners(variables.size(), -1);
  std::vector<size_t> order;
  for (size_t i = 0; i < variables.size(); ++i)
    if (isWhole[i] || variables[i].shape().elements() < stride * processes)
      order.push_back(i);
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(-variables[i].shape().elements(), i); });
  using Load = std::pair<int64_t, int64_t>; // elements, process
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (int64_t process = 0; process < processes; ++process)
    loads.emplace(0, process);
  for (size_t i : order) {
    const auto [elements, process] = loads.top();
    loads.pop();
    owners[i] = process;
    loads.emplace(elements + variables[i].shape().elements(), process);
  }
  return owners;
}

void OptimizerParts::divide(const std::vector<Variable> &variables, const std::vector<bool> &isWhole,
                            const std::vector<bool> &overwritten) {
  divided_.clear();
  index_.clear();
  slots_.clear();
  parts_.clear();
  std::vector<Variable> updated;
  std::vector<bool> whole;
  for (size_t i = 0; i < variables.size(); ++i)
    if (!overwritten[i]) {
      updated.push_back(variables[i]);
      whole.push_back(isWhole[i]);
    }
  const std::vector<int64_t> owners = ownersOf(updated, whole, processes_);
  for (size_t i = 0; i < updated.size(); ++i) {
    const VariableImpl &impl = *updated[i].impl();
    Divided divided{updated[i], {}, {processes_, owners[i]}};
    if (divided.division.owner < 0) {
      const std::string name = impl.name + "_part";
      divided.part = makeVariable(cut(divided.division, updated[i].value()), {.name = name,
                                                                              .path = impl.path + "_part",
                                                                              .role = VariableRole::slot,
                                                                              .update = UpdateKind::assign,
                                                                              .trainable = false,
                                                                              .autocast = false});
      slots_.emplace(divided.part.impl().get(), Slot{impl.shape, divided.division});
      parts_.push_back(divided.part);
    }
    index_.emplace(&impl, divided_.size());
    divided_.push_back(std::move(divided));
  }
}

const OptimizerParts::Divided *OptimizerParts::find(const Variable &variable) const {
  const auto found = index_.find(variable.impl().get());
  return found == index_.end() ? nullptr : &divided_[found->second];
}

Variable OptimizerParts::own(const Variable &variable) const {
  const Divided *divided = find(variable);
  if (!divided)
    return variable;
  if (divided->division.owner < 0)
    return divided->part;
  return divided->division.owner == rank_ ? variable : Variable();
}

Value OptimizerParts::own(const Variable &variable, const Value &x) const {
  const Divided *divided = find(variable);
  if (!divided || divided->division.owner >= 0)
    return x;
  const int64_t elements = x.shape().elements();
  const Division::Range range = divided->division.of(elements, rank_);
  return tracing().slice(tracing().reshape(x, Shape({elements})), {range.first}, Shape({range.count()}));
}

Value OptimizerParts::ownOfSum(const Variable &variable, const Value &x) const {
  const Divided *divided = find(variable);
  if (!divided) // apply() rejects it
    return x;
  return tracing().reduceScatter(x, divided->division.offsets(x.shape().elements()), rank_);
}

void OptimizerParts::read() const {
  for (const Divided &divided : divided_)
    if (divided.part.defined())
      divided.part.assign(own(divided.variable, readRaw(divided.variable)));
}

/// Starts with the last variable, since its gradient, and so its update, is ready first.
void OptimizerParts::gather() const {
  for (const Divided &divided : std::views::reverse(divided_)) {
    const Variable own = this->own(divided.variable);
    const Shape shape = divided.variable.shape();
    const std::vector<int64_t> offsets = divided.division.offsets(shape.elements());
    const Value shard = own.defined() ? readRaw(own) : tracing().splat(0.0, Shape({0}), divided.variable.impl()->dtype);
    divided.variable.assign(tracing().reshape(tracing().allGather(shard, offsets, rank_), shape));
  }
}

Tensor OptimizerParts::cut(const Division &division, const Tensor &whole) const {
  const int64_t elements = whole.size(), size = itemsize(whole.dtype());
  const Division::Range range = division.of(elements, rank_);
  if (range.count() == elements && division.owner >= 0)
    return whole;
  Tensor own = TensorAccess::allocate(whole.dtype(), Shape({range.count()}));
  if (range.count() > 0)
    std::memcpy(TensorAccess::mutableData(own), TensorAccess::data(TensorAccess::onHost(whole)) + range.first * size,
                static_cast<size_t>(range.count() * size));
  return own;
}

Tensor OptimizerParts::cut(const Variable &variable, const Tensor &whole) const {
  const Divided *divided = find(variable);
  return divided ? cut(divided->division, whole) : whole;
}

Shape OptimizerParts::cut(const Variable &variable, const Shape &whole) const {
  const Divided *divided = find(variable);
  if (!divided || divided->division.owner == rank_)
    return whole;
  return Shape({divided->division.of(whole.elements(), rank_).count()});
}

void OptimizerParts::addSlot(const Variable &slot, const Variable &variable, const Shape &whole) {
  if (const Divided *divided = find(variable))
    slots_.emplace(slot.impl().get(), Slot{whole, divided->division});
}

Shape OptimizerParts::wholeShape(const Variable &variable) const {
  const auto found = slots_.find(variable.impl().get());
  return found == slots_.end() ? variable.impl()->shape : found->second.whole;
}

void OptimizerParts::refuseAlone() const {
  throw Error(ErrorKind::runtime_error,
              fmt::format("The state of the optimizer is split among {} processes, and process {} cannot use it alone: "
                          "save the model while the processes train together, and load it",
                          processes_, rank_));
}
void OptimizerParts::requireWhole() const {
  if (areSplit())
    refuseAlone();
}

Tensor OptimizerParts::whole(const Variable &slot, const Tensor &value) const {
  const auto found = slots_.find(slot.impl().get());
  if (found == slots_.end())
    return value;
  const std::shared_ptr<ProcessGroup> group = processGroup();
  if (!group)
    refuseAlone();
  const auto &[shape, division] = found->second;
  Tensor all = TensorAccess::allocate(value.dtype(), shape);
  const int64_t size = itemsize(value.dtype());
  std::vector<std::span<std::byte>> parts;
  for (int64_t rank = 0; rank < processes_; ++rank) {
    const Division::Range range = division.of(shape.elements(), rank);
    parts.emplace_back(TensorAccess::mutableData(all) + range.first * size, static_cast<size_t>(range.count() * size));
  }
  if (const std::span<std::byte> own = parts[static_cast<size_t>(rank_)]; !own.empty())
    std::memcpy(own.data(), TensorAccess::data(TensorAccess::onHost(value)), own.size());
  group
      ->run(fmt::format("the whole of '{}'", slot.path()),
            [&](Collectives &collectives) { return collectives.gatherInPlace(parts); })
      .orThrow();
  return all;
}

Tensor OptimizerParts::cutFor(const Variable &slot, const Tensor &whole) const {
  const auto found = slots_.find(slot.impl().get());
  return found == slots_.end() ? whole : cut(found->second.division, whole);
}

} // namespace halftone::detail
