// Places new values of variables and shadows in the slots of the old ones.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/AssignSlotsDraft.h"
#include <algorithm>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

/// Decides each update in turn, in order.
class UpdatePlacement {
public:
  UpdatePlacement(PlanDraft &draft, SymbolTable &symbols)
      : draft(draft), symbols(symbols), touching(draft.buffers.size()), dropped(draft.steps.size()),
        repeatOf(draft.steps.size(), -1) {
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

  void run() {
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
        draft.steps.push_back(DraftStep::copy(fresh, saved));
        fresh = saved;
      }
    for (auto [variable, fresh] : late)
      draft.steps.push_back(DraftStep::copy(fresh, variable));
  }

private:
  /// Returns true if `buffers` contains `id` or a slice of it.
  bool touches(const std::vector<BufferId> &buffers, BufferId id) const {
    return llvm::any_of(buffers, [&](BufferId each) { return each == id || draft.root(each) == id; });
  }

  /// Returns true if `fresh` may be placed in `variable`: no step reads the old value once a step may have written the
  /// new one.
  bool fitsInPlace(BufferId variable, BufferId fresh) {
    if (draft.isFixed(fresh) || draft.isSlice(fresh))
      return false;
    for (size_t update : updatesTo.lookup(variable))
      if (draft.updates[update].first != variable)
        return false; // the old value is copied to another variable at the end
    for (size_t writer : touching[fresh]) {
      const DraftStep &write = draft.steps[writer];
      if (dropped[writer] || !touches(write.writes, fresh) || isForwarded(write, variable, fresh))
        continue;
      if (!llvm::is_contained(write.writes, fresh))
        return false; // it is written slice by slice
      if (isUnder(write, variable))
        return false; // blocks of one launch read their condition at any time
      if (touches(write.reads, variable) && !worksInPlace(symbols, write, variable, fresh))
        return false;
      for (size_t reader : touching[variable]) {
        // In a repeat, each step also runs after every other step.
        const bool isLater = reader > writer || (repeatOf[writer] >= 0 && repeatOf[reader] == repeatOf[writer]);
        if (!isLater || dropped[reader])
          continue;
        const DraftStep &read = draft.steps[reader];
        // In a loop, a buffer contains several values in turn, so no copy is a mere pass-through.
        const bool isPassed = isForwarded(read, variable, fresh) && repeatOf[reader] < 0;
        bool value = touches(read.reads, variable) && !isPassed;
        bool condition = isUnder(read, variable);
        if (condition || (value && !draft.exclude(write, read)))
          return false;
      }
    }
    return true;
  }
  /// Returns true if the condition of `step` is in `variable`.
  bool isUnder(const DraftStep &step, BufferId variable) const {
    return step.predicate && draft.root(step.predicate->value) == variable;
  }
  /// Returns true for the copy in a branch that does not change the variable. An in-place update drops it.
  static bool isForwarded(const DraftStep &step, BufferId variable, BufferId fresh) {
    return !step.launch && step.to == fresh && step.from == variable;
  }

  /// Places `fresh` in `variable`, and replaces it in the steps and updates, which later decisions read.
  void placeIn(BufferId variable, BufferId fresh) {
    draft.buffers[fresh].placedIn = variable;
    for (size_t index : touching[fresh]) {
      dropped[index] = dropped[index] || isForwarded(draft.steps[index], variable, fresh);
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

  /// Also places in `variable` a value that a step overwrites with `fresh`, such as a decayed table of which some rows
  /// then change.
  void placeOperand(BufferId variable, BufferId fresh) {
    for (size_t writer : touching[fresh])
      for (BufferId operand : draft.steps[writer].reads)
        if (operand != fresh && operand != variable && draft.root(operand) == operand &&
            draft.buffers[operand].type == draft.buffers[fresh].type && updatesTo.lookup(operand).empty() &&
            !fetched.contains(operand) && worksInPlace(symbols, draft.steps[writer], operand, fresh) &&
            fitsInPlace(operand, fresh) && fitsInPlace(variable, operand))
          return placeIn(variable, operand);
  }

  static void replace(DraftStep &step, BufferId from, BufferId to) {
    llvm::replace(step.reads, from, to);
    llvm::replace(step.writes, from, to);
    if (step.from == from)
      step.from = to;
    if (step.to == from)
      step.to = to;
  }

  PlanDraft &draft;
  SymbolTable &symbols;
  std::vector<std::vector<size_t>> touching;            // by buffer: the steps that access it, ascending
  std::vector<bool> dropped;                            // steps
  std::vector<int64_t> repeatOf;                        // by step: the outermost enclosing repeat, or -1
  DenseMap<BufferId, SmallVector<size_t, 1>> updatesTo; // by new value: the updates that take it
  DenseSet<BufferId> fetched;
};

} // namespace

void placeUpdates(PlanDraft &draft, SymbolTable &symbols) { UpdatePlacement(draft, symbols).run(); }

} // namespace halftone::compiler
