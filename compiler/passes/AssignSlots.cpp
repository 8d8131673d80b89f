// Assigns memory to every tensor of a plan: in place in variables, in fetches, or in the arena.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/AssignSlots.h"
#include "compiler/forms/Forms.h"
#include "compiler/passes/AssignSlotsDraft.h"
#include "dialect/ControlFlow.h"
#include "mlir/IR/SymbolTable.h"
#include "runtime/plan/WrittenUnder.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>
#include <map>
#include <set>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

BufferId fetchBuffer(PlanDraft &draft, size_t index) {
  return draft.add(SlotKind::fetch, draft.fetches[index].type, static_cast<int64_t>(index));
}

/// Copies the fetched feeds, constants and old values of variables before the first step, which may overwrite them.
/// Returns true for each such fetch.
std::vector<bool> fetchOldValues(PlanDraft &draft) {
  std::vector<DraftStep> copies;
  std::vector<bool> hasOldValue(draft.fetched.size());
  for (size_t index = 0; index < draft.fetched.size(); ++index) {
    if (!draft.isFixed(draft.fetched[index]))
      continue;
    copies.push_back(DraftStep::copy(draft.fetched[index], fetchBuffer(draft, index)));
    hasOldValue[index] = true;
  }
  draft.steps.insert(draft.steps.begin(), copies.begin(), copies.end());
  return hasOldValue;
}

/// Places each other fetched value in the slot of its first fetch, unless it is placed in a variable or is a slice. The
/// remaining fetches are copies.
void fetchNewValues(PlanDraft &draft, const std::vector<bool> &hasOldValue) {
  for (size_t index = 0; index < draft.fetched.size(); ++index) {
    if (hasOldValue[index])
      continue;
    BufferId value = draft.fetched[index], fetch = fetchBuffer(draft, index);
    if (!draft.isFixed(value) && !draft.isSlice(value))
      draft.buffers[value].placedIn = fetch;
    else
      draft.steps.push_back(DraftStep::copy(value, fetch));
  }
}

/// Fills a buffer with zeros before its first write if one branch writes it and a branch inside that one reads it: the
/// hazard checker does not know that the inner condition implies the outer one. No stock graph has such a buffer.
/// Slices that several branches write are filled too, since other branches read them.
void fillBeforeInnerConditions(PlanDraft &draft) {
  struct Contents {
    std::map<BufferId, size_t> firstWrites = {}; // writes to the buffer or its slices
    bool unproven = false;
    WrittenUnder written = {};
  };
  std::map<BufferId, Contents> contents; // by root
  for (size_t index = 0; index < draft.steps.size(); ++index) {
    const DraftStep &step = draft.steps[index];
    std::optional<ByteCondition> condition;
    if (step.predicate)
      condition = {step.predicate->value, step.predicate->negated};
    for (BufferId id : step.reads)
      if (auto found = contents.find(draft.root(id)); found != contents.end())
        found->second.unproven |= !found->second.written.isKnownUnder(condition);
    for (BufferId id : step.writes) {
      const BufferId root = draft.root(id);
      SlotKind kind = draft.buffers[root].kind;
      if (kind != SlotKind::arena && kind != SlotKind::fetch)
        continue;
      contents[root].firstWrites.try_emplace(draft.holderOf(id), index);
      contents[root].written.add(condition);
    }
  }
  std::multimap<size_t, BufferId> fills;
  for (auto &[root, each] : contents)
    for (auto [id, index] : each.firstWrites) {
      const bool isFetch = draft.buffers[root].kind == SlotKind::fetch;
      const bool isMixed = draft.isSlice(id) && !each.written.isOneCondition();
      if (each.unproven || (!each.written.isAlwaysKnown() && (isFetch || isMixed)))
        fills.emplace(index, id);
    }
  for (auto fill = fills.rbegin(); fill != fills.rend(); ++fill) {
    DraftStep zeros;
    zeros.to = fill->second;
    zeros.writes.push_back(fill->second);
    draft.steps.insert(draft.steps.begin() + static_cast<int64_t>(fill->first), std::move(zeros));
  }
}

Status notDescribed(StringRef kernel) { return cannotAssign("kernel @" + kernel + " was not described"); }

/// Joins neighboring launches of one kernel under one predicate, if none accesses a buffer that another writes.
Status joinLaunches(PlanDraft &draft, const KernelArguments &arguments) {
  const auto keyOf = [&](const DraftStep &step) -> StringRef {
    return arguments.find(LaunchOp(step.launch).getKernel())->second.key;
  };
  std::set<BufferId> reads, writes; // of the launch so far
  const DraftStep *before = nullptr;
  for (DraftStep &step : draft.steps) {
    std::set<BufferId> ownReads, ownWrites;
    for (BufferId id : step.reads)
      ownReads.insert(draft.root(id));
    for (BufferId id : step.writes)
      ownWrites.insert(draft.root(id));
    if (step.predicate)
      ownReads.insert(draft.root(step.predicate->value));
    if (step.launch) {
      if (!arguments.contains(step.launch.getKernel()))
        return notDescribed(step.launch.getKernel());
      auto meets = [](const std::set<BufferId> &a, const std::set<BufferId> &b) {
        return llvm::any_of(a, [&](BufferId id) { return b.contains(id); });
      };
      step.joined = before && before->launch && keyOf(*before) == keyOf(step) && before->predicate == step.predicate &&
                    !meets(ownReads, writes) && !meets(ownWrites, writes) && !meets(ownWrites, reads);
    }
    if (!step.joined) {
      reads.clear();
      writes.clear();
    }
    reads.merge(ownReads);
    writes.merge(ownWrites);
    before = &step;
  }
  return Status::ok();
}

/// Writes the executable of a draft whose buffers have been placed.
class PlanWriter {
public:
  PlanWriter(const KernelArguments &arguments, PlanDraft &draft) : arguments(arguments), draft(draft) {}

  StatusOr<Executable> run(ArenaSize arena) {
    exe.plan.arenaBytes = arena.bytes;
    exe.plan.largestLiveBytes = arena.largestLive;
    writeSteps();
    HALFTONE_RETURN_IF_ERROR(writeShadows());
    exe.signature.feeds = std::move(draft.feeds);
    exe.signature.fetches = std::move(draft.fetches);
    exe.variables = std::move(draft.variables);
    exe.constants = std::move(draft.constants);
    return std::move(exe);
  }

private:
  SlotId slot(BufferId id) {
    id = draft.holderOf(id);
    auto [entry, isNew] = slots.try_emplace(id, static_cast<SlotId>(exe.plan.slots.size()));
    if (!isNew)
      return entry->second;
    Slot result{.type = draft.buffers[id].type};
    for (; draft.buffers[id].sliceOf >= 0; id = draft.holderOf(draft.buffers[id].sliceOf)) {
      const Buffer &slice = draft.buffers[id];
      result.offset += slice.offset;
      result.strides.resize(std::max(result.strides.size(), slice.strides.size()));
      for (auto [own, stride] : llvm::zip(result.strides, slice.strides))
        if (stride.bytes != 0)
          own = stride;
    }
    result.kind = draft.buffers[id].kind;
    result.index = draft.buffers[id].index;
    exe.plan.slots.push_back(std::move(result));
    return entry->second;
  }
  std::optional<Predicate> predicate(const DraftStep &step) {
    if (!step.predicate)
      return std::nullopt;
    return Predicate{slot(step.predicate->value), step.predicate->negated};
  }
  int32_t site(StringRef text) {
    auto [entry, isNew] = sites.try_emplace(text, static_cast<int32_t>(exe.sites.size()));
    if (isNew)
      exe.sites.push_back({text.str()});
    return entry->second;
  }

  Status writeShadows() {
    std::vector<BufferId> shadowBuffers(draft.shadows.size());
    for (size_t id = 0; id < draft.buffers.size(); ++id)
      if (draft.buffers[id].kind == SlotKind::shadow)
        shadowBuffers[draft.buffers[id].index] = static_cast<BufferId>(id);
    std::set<std::pair<int64_t, std::string>> functions; // by variable
    for (size_t index = 0; index < draft.shadows.size(); ++index) {
      ShadowOp shadow = draft.shadows[index];
      const auto launch = arguments.find(refreshName(shadow));
      if (launch == arguments.end())
        return notDescribed(refreshName(shadow));
      const LaunchArguments &refresh = launch->second;
      const BufferId buffer = shadowBuffers[index], source = draft.shadowed[index];
      const int64_t number = draft.buffers[source].index;
      ShadowSlot out{
          shadow.getSymName().str(), refresh.key, draft.buffers[buffer].type, number, std::nullopt, false, {}};
      for (int64_t extent : refresh.extents)
        out.function += "," + std::to_string(extent);
      if (draft.buffers[source].kind == SlotKind::shadow) {
        out.source = number;
        out.variable = exe.shadows[number].variable;
        out.function += " of " + exe.shadows[number].function;
      }
      while (!functions.emplace(out.variable, out.function).second)
        out.function += " again"; // a shadow has its own memory; ops of two forms may have the same code
      out.written = writtenShadows.contains(index);
      out.refresh = stepOf(refresh, {source}, {buffer});
      out.refresh.site = site("variable " + draft.variables[out.variable].path);
      draft.variables[out.variable].read = true;
      exe.shadows.push_back(std::move(out));
    }
    return Status::ok();
  }

  LaunchStep stepOf(const LaunchArguments &launch, ArrayRef<BufferId> reads, ArrayRef<BufferId> writes) {
    LaunchStep out;
    out.kernel = launch.key;
    out.grid = launch.grid;
    out.extents = launch.extents;
    out.scratchBytes = launch.scratchBytes;
    out.cost = launch.cost;
    out.operandCount = static_cast<int64_t>(reads.size());
    for (ArrayRef<BufferId> ids : {reads, writes})
      for (BufferId id : ids)
        out.buffers.push_back(slot(id));
    return out;
  }

  void writeSteps() {
    for (size_t id = 0; id < draft.buffers.size(); ++id)
      if (draft.buffers[id].kind != SlotKind::arena)
        slot(static_cast<BufferId>(id));
    for (DraftStep &step : draft.steps) {
      markVariables(step);
      if (step.collective || step.waits) {
        writeCollective(step);
        continue;
      }
      if (step.repeats || step.endsRepeat) {
        writeRepeat(step);
        continue;
      }
      if (!step.launch) {
        SlotId from = step.from < 0 ? -1 : slot(step.from), to = slot(step.to);
        if (from != to)
          exe.plan.steps.push_back(CopyStep{from, to, predicate(step)});
        continue;
      }
      const LaunchArguments &launch = arguments.find(step.launch.getKernel())->second;
      LaunchStep out = stepOf(launch, step.reads, step.writes);
      out.predicate = predicate(step);
      out.joined = step.joined;
      out.site = site(step.launch.getSite());
      exe.plan.steps.push_back(std::move(out));
    }
  }
  /// Omits repeats without steps.
  void writeRepeat(const DraftStep &step) {
    std::vector<Step> &steps = exe.plan.steps;
    if (step.repeats) {
      openRepeats.push_back(steps.size());
      static_assert(dialect::maxNestedLoops == maxRepeats);
      steps.push_back(RepeatStep{*step.repeats, 0, predicate(step)});
      return;
    }
    const size_t begin = openRepeats.back();
    openRepeats.pop_back();
    std::get<RepeatStep>(steps[begin]).steps = static_cast<int64_t>(steps.size() - begin) - 1;
    if (steps.size() == begin + 1)
      steps.pop_back();
  }
  void writeCollective(const DraftStep &step) {
    if (step.waits) {
      exe.plan.steps.push_back(WaitStep{});
      return;
    }
    CollectiveStep out = describe(step.collective);
    for (BufferId id : step.reads)
      out.from.push_back(slot(id));
    for (BufferId id : step.writes)
      out.to.push_back(slot(id));
    exe.plan.steps.push_back(std::move(out));
  }
  void markVariables(const DraftStep &step) {
    auto mark = [&](BufferId id, bool VariableSlot::*flag) {
      const Buffer &buffer = draft.buffers[draft.root(id)];
      if (buffer.kind == SlotKind::variable)
        draft.variables[buffer.index].*flag = true;
    };
    for (BufferId id : step.reads)
      mark(id, &VariableSlot::read);
    for (BufferId id : step.writes) {
      mark(id, &VariableSlot::written);
      if (const Buffer &buffer = draft.buffers[draft.root(id)]; buffer.kind == SlotKind::shadow)
        writtenShadows.insert(buffer.index);
    }
    if (step.predicate)
      mark(step.predicate->value, &VariableSlot::read);
  }

  const KernelArguments &arguments;
  PlanDraft &draft;
  Executable exe;
  std::set<int64_t> writtenShadows;
  std::vector<size_t> openRepeats; // positions in the plan
  DenseMap<BufferId, SlotId> slots;
  llvm::StringMap<int32_t> sites;
};

} // namespace

StatusOr<Executable> assignSlots(ModuleOp module, const KernelArguments &arguments) {
  auto draft = flatten(module);
  if (!draft)
    return draft.status();
  SymbolTable symbols(module);
  placeCarriesInPlace(*draft, symbols);
  const std::vector<bool> hasOldValue = fetchOldValues(*draft);
  placeUpdates(*draft, symbols);
  fetchNewValues(*draft, hasOldValue);
  fillBeforeInnerConditions(*draft);
  HALFTONE_RETURN_IF_ERROR(joinLaunches(*draft, arguments));
  return PlanWriter(arguments, *draft).run(packArena(*draft));
}

} // namespace halftone::compiler
