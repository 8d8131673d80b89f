// Checks each step once, with the counts of its enclosing repeats.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/RepeatRules.h"
#include "runtime/base/Extents.h"
#include "runtime/plan/Abi.h"
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace halftone {
namespace {

class RepeatRules {
public:
  explicit RepeatRules(const Executable &executable) : exe_(executable), plan_(executable.plan) {}

  Status check() {
    for (const Slot &slot : plan_.slots)
      HALFTONE_RETURN_IF_ERROR(checkSlot(slot));
    return checkBlock(0, plan_.steps.size());
  }

private:
  Status bad(std::string message) const {
    return {ErrorKind::value_error, fmt::format("plan: step {}: {}", step_, message)};
  }

  Status checkSlot(const Slot &slot) const {
    const auto fail = [&](std::string message) {
      return Status(ErrorKind::value_error, fmt::format("plan: slot {}: {}", &slot - plan_.slots.data(), message));
    };
    if (slot.strides.size() > maxRepeats)
      return fail(fmt::format("{} strides; expected at most {}", slot.strides.size(), maxRepeats));
    for (const Stride &stride : slot.strides)
      if (stride.period == 0 ? stride.phase != 0 : stride.period != 2 || stride.phase < 0 || stride.phase > 1)
        return fail(fmt::format("a stride with period {} and phase {}; expected period 2 and phase 0 or 1, or none",
                                stride.period, stride.phase));
    return {};
  }

  Status checkBlock(size_t begin, size_t end) {
    const LaunchStep *before = nullptr;
    for (size_t i = begin; i < end; ++i) {
      step_ = i;
      const auto *launch = std::get_if<LaunchStep>(&plan_.steps[i]);
      if (launch && launch->joined && !before)
        return bad("joined, but not to a launch of the same kernel under the same predicate");
      before = launch;
      HALFTONE_RETURN_IF_ERROR(std::visit([&](auto &step) { return checkStep(step); }, plan_.steps[i]));
      if (std::holds_alternative<RepeatStep>(plan_.steps[i])) {
        HALFTONE_RETURN_IF_ERROR(checkBody(i, end));
        i = plan_.bodyEnd(i) - 1;
      }
    }
    return {};
  }

  Status checkBody(size_t repeat, size_t end) {
    const auto &step = std::get<RepeatStep>(plan_.steps[repeat]);
    if (step.count < 1 || step.steps < 1 || step.steps > static_cast<int64_t>(end - repeat - 1))
      return bad(fmt::format("repeats {} steps {} times; {} steps follow in its block", step.steps, step.count,
                             end - repeat - 1));
    if (counts_.size() == maxRepeats)
      return bad(fmt::format("repeats nest more than {} deep", maxRepeats));
    counts_.push_back(step.count);
    HALFTONE_RETURN_IF_ERROR(checkBlock(repeat + 1, plan_.bodyEnd(repeat)));
    counts_.pop_back();
    return {};
  }

  Status checkStep(const LaunchStep &launch) {
    if (!launch.joined)
      parts_.clear();
    if (launch.predicate)
      HALFTONE_RETURN_IF_ERROR(checkHull(launch.predicate->slot));
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
      const SlotId id = launch.buffers[i];
      HALFTONE_RETURN_IF_ERROR(checkHull(id));
      if (!exists(id))
        continue;
      if (!isAligned(plan_.slots[static_cast<size_t>(id)]))
        return bad(fmt::format("slot {} has a stride that is not a multiple of {} bytes", id, bufferAlignment));
      const bool isResult = static_cast<int64_t>(i) >= launch.operandCount;
      if (counts_.empty()) // slots have no strides
        continue;
      for (auto [other, isOtherResult] : parts_)
        if ((isResult || isOtherResult) && mayMeet(id, other))
          return bad(fmt::format("slots {} and {} overlap in some iteration", id, other));
      parts_.emplace_back(id, isResult);
    }
    return {};
  }
  Status checkStep(const CopyStep &copy) {
    for (const SlotId id : {copy.from, copy.to})
      HALFTONE_RETURN_IF_ERROR(checkHull(id));
    if (copy.predicate)
      HALFTONE_RETURN_IF_ERROR(checkHull(copy.predicate->slot));
    return exists(copy.from) && exists(copy.to) && mayMeet(copy.from, copy.to)
               ? bad(fmt::format("slots {} and {} overlap in some iteration", copy.from, copy.to))
               : Status();
  }
  Status checkStep(const CollectiveStep &collective) {
    if (!counts_.empty())
      return bad("a collective in a repeat");
    for (const std::vector<SlotId> *slots : {&collective.from, &collective.to})
      for (const SlotId id : *slots)
        HALFTONE_RETURN_IF_ERROR(checkHull(id));
    return {};
  }
  Status checkStep(const WaitStep &) { return counts_.empty() ? Status() : bad("a wait in a repeat"); }
  Status checkStep(const RepeatStep &repeat) { return repeat.running ? checkHull(repeat.running->slot) : Status(); }

  /// Returns true if the slot exists; the checks of steps report a slot that does not.
  bool exists(SlotId id) const { return id >= 0 && static_cast<size_t>(id) < plan_.slots.size(); }

  static bool isAligned(const Slot &slot) {
    return slot.offset % bufferAlignment == 0 &&
           std::ranges::all_of(slot.strides, [](const Stride &each) { return each.bytes % bufferAlignment == 0; });
  }

  int64_t bytesOf(const Slot &slot) const {
    switch (slot.kind) {
    case SlotKind::arena:
      return plan_.arenaBytes - slot.index;
    case SlotKind::variable:
      return exe_.variables[static_cast<size_t>(slot.index)].type.bytes();
    case SlotKind::shadow:
      return exe_.shadows[static_cast<size_t>(slot.index)].type.bytes();
    case SlotKind::feed:
      return exe_.signature.feeds[static_cast<size_t>(slot.index)].type.bytes();
    case SlotKind::fetch:
      return exe_.signature.fetches[static_cast<size_t>(slot.index)].type.bytes();
    case SlotKind::constant:
      return std::ssize(exe_.constants[static_cast<size_t>(slot.index)]);
    }
    return 0;
  }

  Status checkHull(SlotId id) const {
    if (!exists(id) || !plan_.slots[static_cast<size_t>(id)].isSlice())
      return {};
    const Slot &slot = plan_.slots[static_cast<size_t>(id)];
    if (slot.strides.size() > counts_.size())
      return bad(fmt::format("slot {} has {} strides in {} repeats", id, slot.strides.size(), counts_.size()));
    const SlotHull hull = hullOf(slot, counts_);
    if (hull.begin < 0 || hull.end > bytesOf(slot))
      return bad(fmt::format("slot {} has bytes {} to {} of a tensor of {}", id, hull.begin, hull.end, bytesOf(slot)));
    return {};
  }

  /// Returns true if two slots may overlap in an iteration other than the first two and the last two. Slots that move
  /// alike have no other distances than in the first two.
  bool mayMeet(SlotId a, SlotId b) const {
    const Slot &one = plan_.slots[static_cast<size_t>(a)], &other = plan_.slots[static_cast<size_t>(b)];
    const bool isArena = one.kind == SlotKind::arena;
    if (one.kind != other.kind || (!isArena && one.index != other.index) || movesAlike(one, other))
      return false;
    const SlotHull first = hullOf(one, counts_), second = hullOf(other, counts_);
    const int64_t distance = isArena ? other.index - one.index : 0;
    return first.begin < extentSum(second.end, distance) && extentSum(second.begin, distance) < first.end;
  }
  static bool movesAlike(const Slot &one, const Slot &other) {
    for (size_t level = 0; level < std::max(one.strides.size(), other.strides.size()); ++level) {
      const Stride a = level < one.strides.size() ? one.strides[level] : Stride{};
      const Stride b = level < other.strides.size() ? other.strides[level] : Stride{};
      const bool isPeriodic = (a.period || a.bytes == 0) && (b.period || b.bytes == 0);
      if (!isPeriodic && (a.bytes != b.bytes || a.period != b.period))
        return false;
    }
    return true;
  }

  const Executable &exe_;
  const Plan &plan_;
  size_t step_ = 0;
  std::vector<int64_t> counts_;                // of the enclosing repeats
  std::vector<std::pair<SlotId, bool>> parts_; // the slots of the launch so far; true for results
};

} // namespace

SlotHull hullOf(const Slot &slot, std::span<const int64_t> counts, size_t level) {
  SlotHull hull{slot.offset, extentSum(slot.offset, slot.type.bytes())};
  for (size_t inner = std::min(slot.strides.size(), counts.size()); inner-- > level;) {
    const Stride &stride = slot.strides[inner];
    const int64_t count = counts[inner], bytes = hull.end - hull.begin;
    const bool isAlone = count == 1 || stride.bytes == 0;
    const int64_t first = isAlone ? stride.at(0) : 0;
    const int64_t last = isAlone ? first : extentProduct(stride.bytes, stride.period ? 1 : count - 1);
    hull.isCovered &= isAlone || stride.bytes == bytes || stride.bytes == -bytes;
    hull.begin = extentSum(hull.begin, std::min(first, last));
    hull.end = extentSum(hull.end, std::max(first, last));
  }
  return hull;
}

Status checkRepeats(const Executable &executable) { return RepeatRules(executable).check(); }

} // namespace halftone
