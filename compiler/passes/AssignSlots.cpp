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

class SlotAssigner {
public:
  SlotAssigner(const KernelArguments &arguments, ModuleOp module, PlanDraft draft)
      : arguments(arguments), symbols(module), draft(std::move(draft)) {}

  StatusOr<Executable> run() {
    placeCarriesInPlace(draft, symbols);
    fetchOldValues();
    updateVariables();
    fetchNewValues();
    fillBeforeInnerConditions();
    HALFTONE_RETURN_IF_ERROR(joinLaunches());
    ArenaSize arena = packArena(draft);
    exe.plan.arenaBytes = arena.bytes;
    exe.plan.largestLiveBytes = arena.largestLive;
    HALFTONE_RETURN_IF_ERROR(writeSteps());
    HALFTONE_RETURN_IF_ERROR(writeShadows());
    exe.signature.feeds = std::move(draft.feeds);
    exe.signature.fetches = std::move(draft.fetches);
    exe.variables = std::move(draft.variables);
    exe.constants = std::move(draft.constants);
    return std::move(exe);
  }

private:
  bool isFixed(BufferId id) const { return draft.buffers[draft.place(id)].kind != SlotKind::arena; }
  /// Returns true if one of the buffers is `id` or a slice of it.
  bool touches(const std::vector<BufferId> &buffers, BufferId id) const {
    return llvm::any_of(buffers, [&](BufferId each) { return each == id || draft.root(each) == id; });
  }

  static DraftStep copyStep(BufferId from, BufferId to) {
    DraftStep step;
    step.from = from;
    step.to = to;
    step.reads.push_back(from);
    step.writes.push_back(to);
    return step;
  }

  BufferId fetchBuffer(size_t index) {
    return draft.add(SlotKind::fetch, draft.fetches[index].type, static_cast<int64_t>(index));
  }

  /// Fetches of feeds, constants and old values of variables come first, before anything is overwritten.
  void fetchOldValues() {
    std::vector<DraftStep> copies;
    settled.resize(draft.fetched.size());
    for (size_t index = 0; index < draft.fetched.size(); ++index) {
      if (!isFixed(draft.fetched[index]))
        continue;
      copies.push_back(copyStep(draft.fetched[index], fetchBuffer(index)));
      settled[index] = true;
    }
    draft.steps.insert(draft.steps.begin(), copies.begin(), copies.end());
  }

  /// Returns true if `fresh` may be written to `variable`: no step reads the old value after a step may have written
  /// the new one.
  bool fitsInPlace(BufferId variable, BufferId fresh) {
    if (isFixed(fresh) || draft.isSlice(fresh))
      return false;
    for (size_t update : updatesTo.lookup(variable))
      if (draft.updates[update].first != variable)
        return false; // the old value is copied to another variable at the end
    for (size_t writer : touching[fresh]) {
      const DraftStep &write = draft.steps[writer];
      if (dropped[writer] || !touches(write.writes, fresh) || isPassedOn(write, variable, fresh))
        continue;
      if (!llvm::is_contained(write.writes, fresh))
        return false; // `fresh` is written slice by slice
      if (isUnder(write, variable))
        return false; // blocks of one launch read their condition at any time
      if (touches(write.reads, variable) && !worksInPlace(symbols, write, variable, fresh))
        return false;
      for (size_t reader : touching[variable]) {
        // In a repeat every step also runs after every other one.
        const bool isLater = reader > writer || (repeatOf[writer] >= 0 && repeatOf[reader] == repeatOf[writer]);
        if (!isLater || dropped[reader])
          continue;
        const DraftStep &read = draft.steps[reader];
        // If a loop writes several values to one buffer in turn, none of them is passed on.
        const bool isPassed = isPassedOn(read, variable, fresh) && repeatOf[reader] < 0;
        bool value = touches(read.reads, variable) && !isPassed;
        bool condition = isUnder(read, variable);
        if (condition || (value && !draft.exclude(write, read)))
          return false;
      }
    }
    return true;
  }
  /// Returns true if the condition of `step` is stored in `variable`.
  bool isUnder(const DraftStep &step, BufferId variable) const {
    return step.predicate && draft.root(step.predicate->value) == variable;
  }
  /// Returns true for the copy in a branch that leaves the variable unchanged. In place it needs no step.
  static bool isPassedOn(const DraftStep &step, BufferId variable, BufferId fresh) {
    return !step.launch && step.to == fresh && step.from == variable;
  }

  /// Records the steps that touch each buffer and the updates that use it.
  void indexSteps() {
    touching.resize(draft.buffers.size());
    dropped.resize(draft.steps.size());
    repeatOf.resize(draft.steps.size(), -1);
    int64_t depth = 0, outermost = -1;
    for (size_t index = 0; index < draft.steps.size(); ++index) {
      const DraftStep &step = draft.steps[index];
      if (step.repeats && depth++ == 0)
        outermost = static_cast<int64_t>(index);
      repeatOf[index] = depth > 0 ? outermost : -1;
      depth -= step.endsRepeat;
      auto touch = [&](BufferId id) {
        for (BufferId each : {id, draft.root(id)})
          if (touching[each].empty() || touching[each].back() != index)
            touching[each].push_back(index);
      };
      llvm::for_each(step.reads, touch);
      llvm::for_each(step.writes, touch);
      if (step.predicate)
        touch(step.predicate->value);
    }
    for (BufferId id : draft.fetched)
      fetched.insert(draft.root(id));
    for (size_t index = 0; index < draft.updates.size(); ++index)
      updatesTo[draft.updates[index].second].push_back(index);
  }

  /// Replaces `fresh` by `variable` in all steps. An update that is decided later must see this.
  void placeIn(BufferId variable, BufferId fresh) {
    draft.buffers[fresh].placedIn = variable;
    for (size_t index : touching[fresh]) {
      dropped[index] = dropped[index] || isPassedOn(draft.steps[index], variable, fresh);
      replace(draft.steps[index], fresh, variable);
    }
    std::vector<size_t> both;
    std::set_union(touching[variable].begin(), touching[variable].end(), touching[fresh].begin(), touching[fresh].end(),
                   std::back_inserter(both));
    touching[variable] = std::move(both);
    for (size_t index : updatesTo.lookup(fresh))
      if (auto &update = draft.updates[index]; update.second == fresh && update.first != variable) {
        update.second = variable;
        updatesTo[variable].push_back(index);
      }
  }

  /// Places an operand that a step may overwrite with `fresh` in `variable` too. Example: a table that decays before
  /// some of its rows change.
  void placeOperand(BufferId variable, BufferId fresh) {
    for (size_t writer : touching[fresh])
      for (BufferId operand : draft.steps[writer].reads)
        if (operand != fresh && operand != variable && draft.root(operand) == operand &&
            draft.buffers[operand].type == draft.buffers[fresh].type && updatesTo.lookup(operand).empty() &&
            !fetched.contains(operand) && worksInPlace(symbols, draft.steps[writer], operand, fresh) &&
            fitsInPlace(operand, fresh) && fitsInPlace(variable, operand))
          return placeIn(variable, operand);
  }

  void updateVariables() {
    indexSteps();
    std::vector<std::pair<BufferId, BufferId>> late;
    for (auto [variable, fresh] : draft.updates) {
      if (fresh == variable)
        continue;
      placeOperand(variable, fresh);
      if (fitsInPlace(variable, fresh))
        placeIn(variable, fresh);
      else
        late.push_back({variable, fresh});
    }
    size_t index = 0;
    std::erase_if(draft.steps, [&](const DraftStep &) { return dropped[index++]; });
    // The copies at the end are simultaneous: a value that one of them overwrites is saved for the others.
    DenseSet<BufferId> overwritten;
    for (auto [variable, fresh] : late)
      overwritten.insert(variable);
    for (auto &[variable, fresh] : late)
      if (overwritten.contains(draft.root(fresh))) {
        BufferId saved = draft.add(SlotKind::arena, draft.buffers[variable].type);
        draft.steps.push_back(copyStep(fresh, saved));
        fresh = saved;
      }
    for (auto [variable, fresh] : late)
      draft.steps.push_back(copyStep(fresh, variable));
  }
  static void replace(DraftStep &step, BufferId from, BufferId to) {
    llvm::replace(step.reads, from, to);
    llvm::replace(step.writes, from, to);
    if (step.from == from)
      step.from = to;
    if (step.to == from)
      step.to = to;
  }

  /// Places a value in the slot of its first fetch, unless it is placed in a variable. Other fetches of it are copies.
  void fetchNewValues() {
    for (size_t index = 0; index < draft.fetched.size(); ++index) {
      if (settled[index])
        continue;
      BufferId value = draft.fetched[index], fetch = fetchBuffer(index);
      if (!isFixed(value) && !draft.isSlice(value))
        draft.buffers[value].placedIn = fetch;
      else
        draft.steps.push_back(copyStep(value, fetch));
    }
  }

  /// Handles a buffer that a branch writes and an inner branch reads. The hazard checker cannot prove that the inner
  /// condition holds only where the outer one does, so such a buffer (no stock graph has one) is first filled with
  /// zeros. So are slices that several branches write, since others read them.
  void fillBeforeInnerConditions() {
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
        contents[root].firstWrites.try_emplace(draft.place(id), index);
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

  SlotId slot(BufferId id) {
    id = draft.place(id);
    auto [place, isNew] = slots.try_emplace(id, static_cast<SlotId>(exe.plan.slots.size()));
    if (!isNew)
      return place->second;
    Slot made{.type = draft.buffers[id].type};
    for (; draft.buffers[id].sliceOf >= 0; id = draft.place(draft.buffers[id].sliceOf)) {
      const Buffer &slice = draft.buffers[id];
      made.offset += slice.offset;
      made.strides.resize(std::max(made.strides.size(), slice.strides.size()));
      for (auto [own, stride] : llvm::zip(made.strides, slice.strides))
        if (stride.bytes != 0)
          own = stride;
    }
    made.kind = draft.buffers[id].kind;
    made.index = draft.buffers[id].index;
    exe.plan.slots.push_back(std::move(made));
    return place->second;
  }
  std::optional<Predicate> predicate(const DraftStep &step) {
    if (!step.predicate)
      return std::nullopt;
    return Predicate{slot(step.predicate->value), step.predicate->negated};
  }
  int32_t site(StringRef text) {
    auto [place, isNew] = sites.try_emplace(text, static_cast<int32_t>(exe.sites.size()));
    if (isNew)
      exe.sites.push_back({text.str()});
    return place->second;
  }

  /// Joins adjacent launches of the same code under the same predicate into one, if none touches what another writes.
  Status joinLaunches() {
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
        step.joined = before && before->launch && keyOf(*before) == keyOf(step) &&
                      before->predicate == step.predicate && !meets(ownReads, writes) && !meets(ownWrites, writes) &&
                      !meets(ownWrites, reads);
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
  llvm::StringRef keyOf(const DraftStep &step) { return arguments.find(LaunchOp(step.launch).getKernel())->second.key; }
  static Status notDescribed(llvm::StringRef kernel) {
    return Status(ErrorKind::internal_error, "assign-slots: kernel @" + kernel.str() + " was not described");
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

  Status writeSteps() {
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
    return Status::ok();
  }
  /// Omits a repeat whose body is empty.
  void writeRepeat(const DraftStep &step) {
    std::vector<Step> &steps = exe.plan.steps;
    if (step.repeats) {
      openRepeats.push_back(steps.size());
      static_assert(dialect::mostNestedLoops == mostRepeats);
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
  SymbolTable symbols;
  PlanDraft draft;
  Executable exe;
  std::vector<bool> settled; // fetches
  // Used while variables are updated:
  std::vector<std::vector<size_t>> touching;            // by buffer: the steps, ascending
  std::vector<bool> dropped;                            // steps
  std::vector<int64_t> repeatOf;                        // by step: the outermost enclosing repeat, or -1
  DenseMap<BufferId, SmallVector<size_t, 1>> updatesTo; // by new value
  DenseSet<BufferId> fetched;
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
  return SlotAssigner(arguments, module, std::move(*draft)).run();
}

} // namespace halftone::compiler
