// Verifies the final plan, including hazards between steps.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/Abi.h"
#include "runtime/plan/Executable.h"
#include "runtime/plan/RepeatRules.h"
#include "runtime/plan/WrittenRanges.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <tuple>

namespace halftone {
namespace {

Status invalid(std::string message) { return {ErrorKind::value_error, "plan: " + std::move(message)}; }

class Checker {
public:
  explicit Checker(const Executable &executable) : exe(executable), plan(executable.plan) {}

  Status check() {
    HALFTONE_RETURN_IF_ERROR(checkCores(exe.kernels));
    HALFTONE_RETURN_IF_ERROR(checkTables());
    for (size_t i = 0; i < plan.slots.size(); ++i)
      HALFTONE_RETURN_IF_ERROR(checkSlot(i));
    HALFTONE_RETURN_IF_ERROR(checkRepeats(exe));
    HALFTONE_RETURN_IF_ERROR(checkBlock(0, plan.steps.size()));
    if (!inFlight.empty())
      return invalid("a collective has no wait");
    return checkFetches();
  }

private:
  const Executable &exe;
  const Plan &plan;
  size_t step = 0;
  std::vector<int64_t> iterations, counts; // of the enclosing repeats
  WrittenRanges written;
  const LaunchStep *part = nullptr;
  RangeUnion partsRead, partsWritten; // by the current launch's parts
  std::deque<const CollectiveStep *> inFlight;

  Status bad(std::string message) const { return invalid(fmt::format("step {}: {}", step, message)); }
  bool slotExists(SlotId id) const { return id >= 0 && static_cast<size_t>(id) < plan.slots.size(); }

  /// The range of a slot whose slice begins at offset `begin`.
  static Range rangeAt(const Slot &slot, int64_t begin, int64_t bytes) {
    const bool arena = slot.kind == SlotKind::arena;
    begin += arena ? slot.index : 0;
    return {slot.kind, arena ? 0 : slot.index, begin, begin + bytes};
  }
  /// The displacement of the slot in the current iterations of the outermost `levels` repeats.
  int64_t moved(const Slot &slot, size_t levels) const {
    int64_t bytes = 0;
    for (size_t level = 0; level < std::min(slot.strides.size(), levels); ++level)
      bytes += slot.strides[level].at(iterations[level]);
    return bytes;
  }
  /// The range of a slot in the current iterations.
  Range rangeOf(SlotId id) const {
    const Slot &slot = plan.slots[id];
    return rangeAt(slot, slot.offset + moved(slot, iterations.size()), slot.type.bytes());
  }
  RangeAccess accessOf(SlotId id) const { return {rangeOf(id), plan.slots[id].isSlice()}; }
  std::optional<RangeCondition> conditionOf(const std::optional<Predicate> &predicate) const {
    return predicate ? std::optional(RangeCondition{rangeOf(predicate->slot), predicate->negated}) : std::nullopt;
  }

  Status checkBlock(size_t begin, size_t end) {
    part = nullptr;
    for (size_t i = begin; i < end; ++i) {
      step = i;
      HALFTONE_RETURN_IF_ERROR(std::visit([&](auto &s) { return checkStep(s); }, plan.steps[i]));
      part = std::get_if<LaunchStep>(&plan.steps[i]);
      if (std::holds_alternative<RepeatStep>(plan.steps[i]))
        i = plan.bodyEnd(i) - 1;
    }
    return {};
  }

  Status checkTables() const {
    for (auto *list : {&exe.signature.feeds, &exe.signature.fetches})
      for (const Parameter &parameter : *list)
        if (Status s = verify(parameter.type); !s.isOk())
          return invalid(fmt::format("parameter '{}': {}", parameter.name, s.message()));
    for (const VariableSlot &variable : exe.variables)
      if (Status s = verify(variable.type); !s.isOk())
        return invalid(fmt::format("variable '{}': {}", variable.symbol, s.message()));
    std::set<std::string_view> symbols;
    for (const VariableSlot &variable : exe.variables)
      if (!symbols.insert(variable.symbol).second)
        return invalid(fmt::format("variable '{}' is listed twice", variable.symbol));
    std::map<std::pair<int64_t, std::string_view>, std::string_view> memories; // of shadows
    for (const ShadowSlot &shadow : exe.shadows) {
      HALFTONE_RETURN_IF_ERROR(checkShadow(shadow));
      if (auto [first, isNew] = memories.try_emplace({shadow.variable, shadow.function}, shadow.symbol); !isNew)
        return invalid(fmt::format("shadow '{}' and shadow '{}' are the same function of the same variable",
                                   shadow.symbol, first->second));
    }
    if (plan.arenaBytes < 0 || plan.largestLiveBytes < 0 || plan.largestLiveBytes > plan.arenaBytes)
      return invalid(
          fmt::format("arena of {} bytes with {} bytes live at once", plan.arenaBytes, plan.largestLiveBytes));
    return {};
  }

  Status checkShadow(const ShadowSlot &shadow) const {
    auto fail = [&](std::string message) { return invalid(fmt::format("shadow '{}': {}", shadow.symbol, message)); };
    if (Status s = verify(shadow.type); !s.isOk())
      return fail(s.message());
    if (shadow.variable < 0 || shadow.variable >= static_cast<int64_t>(exe.variables.size()))
      return fail(fmt::format("variable {} does not exist", shadow.variable));
    if (shadow.written && !exe.variables[shadow.variable].written)
      return fail("is written, but its variable is not");
    const int64_t number = &shadow - exe.shadows.data();
    if (shadow.source &&
        (*shadow.source < 0 || *shadow.source >= number || exe.shadows[*shadow.source].variable != shadow.variable))
      return fail(fmt::format("shadow {} is not an earlier shadow of the same variable", *shadow.source));
    const LaunchStep &refresh = shadow.refresh;
    HALFTONE_RETURN_IF_ERROR(checkLaunch(refresh, fail));
    auto refersTo = [&](SlotId id, SlotKind kind, int64_t index) {
      return plan.slots[id].kind == kind && plan.slots[id].index == index;
    };
    if (refresh.operandCount != 1 || refresh.buffers.size() != 2 || refresh.predicate || refresh.joined ||
        !refersTo(refresh.buffers[0], shadow.source ? SlotKind::shadow : SlotKind::variable,
                  shadow.source.value_or(shadow.variable)) ||
        !refersTo(refresh.buffers[1], SlotKind::shadow, number))
      return fail("expected an unpredicated refresh that reads the variable or source and writes the shadow");
    return {};
  }

  Status checkSlot(size_t id) const {
    const Slot &slot = plan.slots[id];
    auto fail = [&](std::string message) { return invalid(fmt::format("slot {}: {}", id, message)); };
    if (Status s = verify(slot.type); !s.isOk())
      return fail(s.message());
    auto sameAs = [&](const char *what, const auto &list, auto typeOf) -> Status {
      if (slot.index < 0 || slot.index >= static_cast<int64_t>(list.size()))
        return fail(fmt::format("{} {} does not exist; there are {}", what, slot.index, list.size()));
      const TensorType &type = typeOf(list[slot.index]);
      if (slot.isSlice() ? type.dtype != slot.type.dtype : type != slot.type)
        return fail(fmt::format("{} {} has type {}, the slot {}", what, slot.index, type.str(), slot.type.str()));
      return {};
    };
    auto type = [](auto &entry) -> const TensorType & { return entry.type; };
    switch (slot.kind) {
    case SlotKind::arena:
      if (slot.index < 0 || slot.index % bufferAlignment != 0)
        return fail(fmt::format("arena offset {} is not a multiple of {}", slot.index, bufferAlignment));
      if (slot.index > plan.arenaBytes || slot.type.bytes() > plan.arenaBytes - slot.index)
        return fail(fmt::format("{} bytes at offset {} leave the arena of {} bytes", slot.type.bytes(), slot.index,
                                plan.arenaBytes));
      return {};
    case SlotKind::variable:
      return sameAs("variable", exe.variables, type);
    case SlotKind::shadow:
      return sameAs("shadow", exe.shadows, type);
    case SlotKind::feed:
      return sameAs("feed", exe.signature.feeds, type);
    case SlotKind::fetch:
      return sameAs("fetch", exe.signature.fetches, type);
    case SlotKind::constant:
      if (slot.index < 0 || slot.index >= static_cast<int64_t>(exe.constants.size()))
        return fail(fmt::format("constant {} does not exist; there are {}", slot.index, exe.constants.size()));
      if (!slot.isSlice() && static_cast<int64_t>(exe.constants[slot.index].size()) != slot.type.bytes())
        return fail(fmt::format("constant {} has {} bytes, {} needs {}", slot.index, exe.constants[slot.index].size(),
                                slot.type.str(), slot.type.bytes()));
      return {};
    }
    return fail("unknown kind");
  }

  Status checkRead(SlotId id, const std::optional<Predicate> &predicate) const {
    HALFTONE_RETURN_IF_ERROR(checkInFlight(id, rangeOf(id), false));
    Range range = rangeOf(id);
    if ((range.kind != SlotKind::arena && range.kind != SlotKind::fetch) || range.empty())
      return {};
    const WrittenRanges::Known known = written.known(accessOf(id), conditionOf(predicate));
    if (known == WrittenRanges::Known::no)
      return bad(fmt::format("reads slot {}, whose bytes no earlier step wrote or a later one has overwritten", id));
    if (known == WrittenRanges::Known::under_predicate)
      return bad(fmt::format("reads slot {}, which was written only under a predicate", id));
    return {};
  }

  Status checkPredicate(const std::optional<Predicate> &predicate) const {
    if (!predicate)
      return {};
    if (!slotExists(predicate->slot))
      return bad(fmt::format("predicate slot {} does not exist", predicate->slot));
    const TensorType &type = plan.slots[predicate->slot].type;
    if (type.dtype != DType::bool_ || type.elements() != 1)
      return bad(fmt::format("predicate slot {} has type {}, expected one i1", predicate->slot, type.str()));
    return checkRead(predicate->slot, {});
  }

  /// `predicate` is that of the writing step. The blocks of a launch may read it at any time until the launch ends.
  Status checkWritable(SlotId id, const std::optional<Predicate> &predicate) const {
    HALFTONE_RETURN_IF_ERROR(checkInFlight(id, rangeOf(id), true));
    if (predicate && rangeOf(id).overlaps(rangeOf(predicate->slot)))
      return bad(fmt::format("writes slot {}, which overlaps its own predicate", id));
    const Slot &slot = plan.slots[id];
    if (slot.kind == SlotKind::feed || slot.kind == SlotKind::constant)
      return bad(fmt::format("writes slot {}, a {}", id, slot.kind == SlotKind::feed ? "feed" : "constant"));
    if (slot.kind == SlotKind::variable && !exe.variables[slot.index].written)
      return bad(
          fmt::format("writes variable '{}', which is not declared as written", exe.variables[slot.index].symbol));
    if (slot.kind == SlotKind::shadow && !exe.shadows[slot.index].written)
      return bad(fmt::format("writes shadow '{}', which is not declared as written", exe.shadows[slot.index].symbol));
    return {};
  }

  void write(SlotId id, const std::optional<Predicate> &predicate) {
    written.write(accessOf(id), conditionOf(predicate));
  }

  /// The parts of one launch run concurrently.
  Status checkParts(const LaunchStep &launch) {
    if (!launch.joined) {
      partsRead.clear();
      partsWritten.clear();
    } else if (!part || part->kernel != launch.kernel || part->predicate != launch.predicate) {
      return bad("joined, but not to a launch of the same kernel under the same predicate");
    }
    auto isOperand = [&](size_t buffer) { return static_cast<int64_t>(buffer) < launch.operandCount; };
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
      Range range = rangeOf(launch.buffers[i]);
      if (partsWritten.overlaps(range) || (!isOperand(i) && partsRead.overlaps(range)))
        return bad(fmt::format("slot {} of one part of a launch overlaps another part's", launch.buffers[i]));
    }
    for (size_t i = 0; i < launch.buffers.size(); ++i)
      (isOperand(i) ? partsRead : partsWritten).add(rangeOf(launch.buffers[i]));
    if (launch.predicate)
      partsRead.add(rangeOf(launch.predicate->slot));
    return {};
  }

  /// Checks the rules that concern the launch alone.
  template <class Fail> Status checkLaunch(const LaunchStep &launch, Fail bad) const {
    const auto kernel = exe.kernels.find(launch.kernel);
    if (kernel == exe.kernels.end() || kernel->second.isCore())
      return bad(fmt::format("no kernel '{}'", launch.kernel));
    if (launch.grid < 0 || launch.scratchBytes < 0 || !std::isfinite(launch.cost) || launch.cost < 0)
      return bad(fmt::format("grid {}, scratch {} and cost {} must not be negative", launch.grid, launch.scratchBytes,
                             launch.cost));
    if (launch.site < -1 || launch.site >= static_cast<int64_t>(exe.sites.size()))
      return bad(fmt::format("site {} does not exist", launch.site));
    const auto count = static_cast<int64_t>(launch.buffers.size());
    if (launch.operandCount < 0 || launch.operandCount > count)
      return bad(fmt::format("{} operands among {} buffers", launch.operandCount, count));
    for (SlotId id : launch.buffers)
      if (!slotExists(id))
        return bad(fmt::format("slot {} does not exist", id));
    return {};
  }

  Status checkStep(const LaunchStep &launch) {
    HALFTONE_RETURN_IF_ERROR(checkLaunch(launch, [&](std::string message) { return bad(std::move(message)); }));
    const auto count = static_cast<int64_t>(launch.buffers.size());
    HALFTONE_RETURN_IF_ERROR(checkPredicate(launch.predicate));
    for (int64_t i = 0; i < launch.operandCount; ++i)
      HALFTONE_RETURN_IF_ERROR(checkRead(launch.buffers[i], launch.predicate));
    for (int64_t i = launch.operandCount; i < count; ++i) {
      HALFTONE_RETURN_IF_ERROR(checkWritable(launch.buffers[i], launch.predicate));
      Range result = rangeOf(launch.buffers[i]);
      for (int64_t j = 0; j < i; ++j) {
        Range other = rangeOf(launch.buffers[j]);
        bool operand = j < launch.operandCount;
        if (result.overlaps(other) && !(operand && result == other))
          return bad(fmt::format("result slot {} overlaps {} slot {}", launch.buffers[i],
                                 operand ? "operand" : "result", launch.buffers[j]));
      }
    }
    HALFTONE_RETURN_IF_ERROR(checkParts(launch));
    for (int64_t i = launch.operandCount; i < count; ++i)
      write(launch.buffers[i], launch.predicate);
    return {};
  }

  Status checkStep(const CopyStep &copy) {
    if (!slotExists(copy.to))
      return bad(fmt::format("slot {} does not exist", copy.to));
    HALFTONE_RETURN_IF_ERROR(checkPredicate(copy.predicate));
    if (copy.from >= 0) {
      if (!slotExists(copy.from))
        return bad(fmt::format("slot {} does not exist", copy.from));
      const TensorType &from = plan.slots[copy.from].type, &to = plan.slots[copy.to].type;
      if (from.dtype != to.dtype || from.elements() != to.elements())
        return bad(fmt::format("copies {} to {}", from.str(), to.str()));
      if (rangeOf(copy.from).overlaps(rangeOf(copy.to)))
        return bad(fmt::format("slots {} and {} overlap", copy.from, copy.to));
      HALFTONE_RETURN_IF_ERROR(checkRead(copy.from, copy.predicate));
    }
    HALFTONE_RETURN_IF_ERROR(checkWritable(copy.to, copy.predicate));
    write(copy.to, copy.predicate);
    return {};
  }

  Status checkStep(const CollectiveStep &collective) {
    if (collective.from.empty() || collective.from.size() != collective.to.size())
      return bad(fmt::format("a collective has {} operands and {} results; expected pairs", collective.from.size(),
                             collective.to.size()));
    RangeUnion touched;
    for (bool isResult : {false, true})
      for (SlotId id : isResult ? collective.to : collective.from) {
        if (!slotExists(id))
          return bad(fmt::format("slot {} does not exist", id));
        HALFTONE_RETURN_IF_ERROR(isResult ? checkWritable(id, {}) : checkRead(id, {}));
        const Range range = rangeOf(id);
        if (isResult && touched.overlaps(range))
          return bad(fmt::format("result slot {} overlaps an operand or another result", id));
        touched.add(range);
      }
    HALFTONE_RETURN_IF_ERROR(checkDivision(collective));
    for (size_t i = 0; i < collective.from.size(); ++i)
      if (const TensorType &from = plan.slots[collective.from[i]].type, &to = plan.slots[collective.to[i]].type;
          from.dtype != to.dtype || !hasElements(collective, i, from.elements(), to.elements()))
        return bad(fmt::format("combines {} into {}", from.str(), to.str()));
    inFlight.push_back(&collective);
    return {};
  }

  Status checkDivision(const CollectiveStep &collective) {
    if (!isDivided(collective.kind))
      return collective.offsets.empty() ? Status() : bad("a collective of whole values has offsets");
    if (collective.offsets.size() != collective.from.size())
      return bad(fmt::format("a collective of {} values has offsets for {}", collective.from.size(),
                             collective.offsets.size()));
    for (const std::vector<int64_t> &own : collective.offsets)
      if (own.size() < 2 || own.size() != collective.offsets.front().size() || own.front() != 0 ||
          !std::ranges::is_sorted(own))
        return bad(
            fmt::format("offsets [{}]: expected ascending offsets that begin with 0, equally many for each value",
                        fmt::join(own, ", ")));
    const auto processes = std::ssize(collective.offsets.front()) - 1;
    if (collective.rank < 0 || collective.rank >= processes)
      return bad(fmt::format("rank {} of {} processes", collective.rank, processes));
    return {};
  }
  /// Returns true if the pair's slots have the sizes that their offsets give, which checkDivision() has checked.
  static bool hasElements(const CollectiveStep &collective, size_t pair, int64_t from, int64_t to) {
    if (!isDivided(collective.kind))
      return from == to;
    const std::vector<int64_t> &offsets = collective.offsets[pair];
    const auto rank = static_cast<size_t>(collective.rank);
    const int64_t own = offsets[rank + 1] - offsets[rank], all = offsets.back();
    return collective.kind == CollectiveKind::gather ? from == own && to == all : from == all && to == own;
  }

  Status checkStep(const WaitStep &) {
    if (inFlight.empty())
      return bad("waits, but no collective is in flight");
    for (SlotId id : inFlight.front()->to)
      write(id, {});
    inFlight.pop_front();
    return {};
  }

  /// Checks the first two and the last two iterations as individual steps.
  Status checkStep(const RepeatStep &repeat) {
    const size_t at = step, level = iterations.size();
    WrittenRanges atEnd = written; // the state after a repeat that may end before any iteration
    iterations.push_back(0);
    counts.push_back(repeat.count);
    for (int64_t iteration = 0; iteration < repeat.count; ++iteration) {
      if (iteration == 2 && repeat.count > 4) {
        HALFTONE_RETURN_IF_ERROR(checkBetween(at));
        iteration = repeat.count - 2;
      }
      iterations[level] = iteration;
      step = at;
      HALFTONE_RETURN_IF_ERROR(checkPredicate(repeat.running));
      HALFTONE_RETURN_IF_ERROR(checkBlock(at + 1, plan.bodyEnd(at)));
      if (repeat.running)
        atEnd.meet(written);
    }
    iterations.pop_back();
    counts.pop_back();
    if (repeat.running)
      written = std::move(atEnd);
    return {};
  }

  /// Checks iterations 2 to count - 3 of the repeat at step `at`, after iteration 1. If the slices of successive
  /// iterations are adjacent and iteration 1 has written its slice, these iterations write all bytes of their range.
  Status checkBetween(size_t at) {
    struct Written {
      Range range;
      WrittenRanges::Known known; // of the whole range
      std::optional<RangeCondition> predicate;
    };
    std::vector<Written> between;
    std::vector<size_t> ends; // of the repeats inside
    const size_t depth = counts.size();
    for (size_t i = at + 1; i < plan.bodyEnd(at); ++i) {
      for (; !ends.empty() && ends.back() <= i; ends.pop_back())
        counts.pop_back();
      step = i;
      for (const auto &[id, writes] : slotsOf(plan.steps[i])) {
        const auto ranges = rangesBetween(plan.slots[id], depth);
        if (!ranges)
          continue;
        HALFTONE_RETURN_IF_ERROR(checkInFlight(id, ranges->all, writes));
        if (!writes)
          continue;
        Written own{ranges->all, WrittenRanges::Known::no, fixedPredicate(plan.steps[i], depth)};
        if (ranges->isCovered)
          own.known = written.known({ranges->one, true}, std::nullopt);
        if (own.known == WrittenRanges::Known::under_predicate)
          own.known = own.predicate ? written.known({ranges->one, true}, own.predicate) : WrittenRanges::Known::no;
        else
          own.predicate.reset();
        between.push_back(own);
      }
      if (auto *inner = std::get_if<RepeatStep>(&plan.steps[i])) {
        counts.push_back(inner->count);
        ends.push_back(plan.bodyEnd(i));
      }
    }
    counts.resize(depth);
    for (const auto &[range, known, predicate] : between)
      if (known == WrittenRanges::Known::yes)
        written.write({range, true}, predicate);
      else
        written.invalidate(range);
    return {};
  }

  /// The predicate of a step in the innermost of `depth` repeats, if its byte does not move in that repeat.
  std::optional<RangeCondition> fixedPredicate(const Step &of, size_t depth) const {
    const auto *launch = std::get_if<LaunchStep>(&of);
    const auto *copy = std::get_if<CopyStep>(&of);
    const std::optional<Predicate> predicate = launch ? launch->predicate : copy ? copy->predicate : std::nullopt;
    return predicate && plan.slots[predicate->slot].strides.size() < depth ? conditionOf(predicate) : std::nullopt;
  }

  struct Between {
    Range one, all; // in iteration 1; in iterations 2 to count - 3
    bool isCovered; // true if the slices leave no gaps in `all`
  };
  /// The ranges of a slot that moves in the innermost of `depth` repeats, whose current iteration is 1.
  std::optional<Between> rangesBetween(const Slot &slot, size_t depth) const {
    if (slot.strides.size() < depth || slot.strides[depth - 1].bytes == 0 || slot.strides[depth - 1].period)
      return std::nullopt;
    const int64_t stride = slot.strides[depth - 1].bytes;
    const SlotHull hull = hullOf(slot, counts, depth); // of the repeats inside
    const Range one = rangeAt(slot, hull.begin + moved(slot, depth), hull.end - hull.begin);
    Range all = one;
    (stride > 0 ? all.end : all.begin) += stride * (counts[depth - 1] - 4);
    (stride > 0 ? all.begin : all.end) += stride;
    return Between{one, all, hull.isCovered && std::abs(stride) == one.end - one.begin};
  }

  /// A collective in flight may read its operands and write its results at any time until its wait.
  Status checkInFlight(SlotId id, const Range &range, bool writes) const {
    auto meetsAny = [&](const std::vector<SlotId> &slots) {
      return std::ranges::any_of(slots, [&](SlotId each) { return rangeOf(each).overlaps(range); });
    };
    for (const CollectiveStep *collective : inFlight)
      if (meetsAny(collective->to) || (writes && meetsAny(collective->from)))
        return bad(fmt::format("{} slot {}, which a collective in flight uses", writes ? "writes" : "reads", id));
    return {};
  }

  Status checkFetches() const {
    for (size_t i = 0; i < exe.signature.fetches.size(); ++i) {
      const Parameter &fetch = exe.signature.fetches[i];
      if (fetch.type.bytes() == 0)
        continue;
      const auto known =
          written.known({{SlotKind::fetch, static_cast<int64_t>(i), 0, fetch.type.bytes()}}, std::nullopt);
      if (known != WrittenRanges::Known::yes)
        return invalid(fmt::format("fetch {} '{}' is not written{}", i, fetch.name,
                                   known == WrittenRanges::Known::no ? "" : " unconditionally"));
    }
    return {};
  }
};

} // namespace

Status verify(const Executable &executable) { return Checker(executable).check(); }

} // namespace halftone
