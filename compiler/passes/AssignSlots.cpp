// Where every tensor of a plan lives: in place in variables, in fetches, in the arena.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/AssignSlots.h"
#include "compiler/forms/Forms.h"
#include "compiler/passes/AssignSlotsProgram.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>
#include <map>
#include <set>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

bool exclude(const ProgramStep &a, const ProgramStep &b) {
  return a.predicate && b.predicate && a.predicate->buffer == b.predicate->buffer &&
         a.predicate->negated != b.predicate->negated;
}

class SlotAssigner {
public:
  SlotAssigner(const KernelArguments &arguments, ModuleOp module, Program program)
      : arguments(arguments), symbols(module), program(std::move(program)) {}

  StatusOr<Executable> run() {
    fetchOldValues();
    updateVariables();
    fetchNewValues();
    fillBeforeInnerConditions();
    HALFTONE_RETURN_IF_ERROR(joinLaunches());
    ArenaSize arena = packArena(program);
    exe.plan.arenaBytes = arena.bytes;
    exe.plan.largestLiveBytes = arena.largestLive;
    HALFTONE_RETURN_IF_ERROR(writeSteps());
    HALFTONE_RETURN_IF_ERROR(writeShadows());
    exe.signature.feeds = std::move(program.feeds);
    exe.signature.fetches = std::move(program.fetches);
    exe.variables = std::move(program.variables);
    exe.constants = std::move(program.constants);
    return std::move(exe);
  }

private:
  bool isFixed(BufferId id) const { return program.buffers[program.place(id)].kind != SlotKind::arena; }

  static ProgramStep copyStep(BufferId from, BufferId to) {
    ProgramStep step;
    step.from = from;
    step.to = to;
    step.reads.push_back(from);
    step.writes.push_back(to);
    return step;
  }

  BufferId fetchBuffer(size_t index) {
    return program.add(SlotKind::fetch, program.fetches[index].type, static_cast<int64_t>(index));
  }

  /// Fetches of feeds, constants and old values of variables come first, before anything is overwritten.
  void fetchOldValues() {
    std::vector<ProgramStep> copies;
    settled.resize(program.fetched.size());
    for (size_t index = 0; index < program.fetched.size(); ++index) {
      if (!isFixed(program.fetched[index]))
        continue;
      copies.push_back(copyStep(program.fetched[index], fetchBuffer(index)));
      settled[index] = true;
    }
    program.steps.insert(program.steps.begin(), copies.begin(), copies.end());
  }

  /// Whether `fresh` may be made in `variable`: no step reads the old value once a step may have written the new one.
  bool fitsInPlace(BufferId variable, BufferId fresh) {
    if (isFixed(fresh))
      return false;
    for (size_t update : updatesTo.lookup(variable))
      if (program.updates[update].first != variable)
        return false; // the old value goes to another variable at the end
    for (size_t writer : touching[fresh]) {
      const ProgramStep &write = program.steps[writer];
      if (dropped[writer] || !llvm::is_contained(write.writes, fresh) || isPassedOn(write, variable, fresh))
        continue;
      if (llvm::is_contained(write.reads, variable) && !worksInPlace(write, variable, fresh))
        return false;
      for (size_t reader : touching[variable]) {
        if (reader <= writer || dropped[reader])
          continue;
        const ProgramStep &read = program.steps[reader];
        bool value = llvm::is_contained(read.reads, variable) && !isPassedOn(read, variable, fresh);
        bool condition = read.predicate && read.predicate->buffer == variable;
        if (condition || (value && !exclude(write, read)))
          return false;
      }
    }
    return true;
  }
  /// A branch that leaves the variable as it was: no step when in place.
  static bool isPassedOn(const ProgramStep &step, BufferId variable, BufferId fresh) {
    return !step.launch && step.to == fresh && step.from == variable;
  }
  bool worksInPlace(const ProgramStep &step, BufferId variable, BufferId fresh) {
    if (!step.launch)
      return false;
    LaunchOp launch = step.launch;
    auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
    for (size_t operand = 0; operand < step.reads.size(); ++operand) {
      if (step.reads[operand] != variable)
        continue;
      Type type = launch.getOperand(operand).getType();
      for (size_t result = 0; result < step.writes.size(); ++result)
        if (step.writes[result] == fresh && launch.getOutputs()[result].getType() != type)
          return false;
      if (!kernel || !formOf(kernel.getKind()).readsInPlace(kernel, operand))
        return false;
    }
    return true;
  }

  /// Which steps touch each buffer, and which updates take it.
  void indexSteps() {
    touching.resize(program.buffers.size());
    dropped.resize(program.steps.size());
    for (size_t index = 0; index < program.steps.size(); ++index) {
      const ProgramStep &step = program.steps[index];
      auto touch = [&](BufferId id) {
        if (touching[id].empty() || touching[id].back() != index)
          touching[id].push_back(index);
      };
      llvm::for_each(step.reads, touch);
      llvm::for_each(step.writes, touch);
      if (step.predicate)
        touch(step.predicate->buffer);
    }
    for (size_t index = 0; index < program.updates.size(); ++index)
      updatesTo[program.updates[index].second].push_back(index);
  }

  /// The step that makes `fresh` makes it in `variable` from now on: an update decided later must see that.
  void placeIn(BufferId variable, BufferId fresh) {
    program.buffers[fresh].placedIn = variable;
    for (size_t index : touching[fresh]) {
      dropped[index] = dropped[index] || isPassedOn(program.steps[index], variable, fresh);
      replace(program.steps[index], fresh, variable);
    }
    std::vector<size_t> both;
    std::set_union(touching[variable].begin(), touching[variable].end(), touching[fresh].begin(), touching[fresh].end(),
                   std::back_inserter(both));
    touching[variable] = std::move(both);
    for (size_t index : updatesTo.lookup(fresh))
      if (auto &update = program.updates[index]; update.second == fresh && update.first != variable) {
        update.second = variable;
        updatesTo[variable].push_back(index);
      }
  }

  void updateVariables() {
    indexSteps();
    std::vector<std::pair<BufferId, BufferId>> late;
    for (auto [variable, fresh] : program.updates) {
      if (fresh == variable)
        continue;
      if (fitsInPlace(variable, fresh))
        placeIn(variable, fresh);
      else
        late.push_back({variable, fresh});
    }
    size_t index = 0;
    std::erase_if(program.steps, [&](const ProgramStep &) { return dropped[index++]; });
    // Copies at the end happen at once: a value that one of them overwrites is saved for the others.
    DenseSet<BufferId> overwritten;
    for (auto [variable, fresh] : late)
      overwritten.insert(variable);
    for (auto &[variable, fresh] : late)
      if (overwritten.contains(program.place(fresh))) {
        BufferId saved = program.add(SlotKind::arena, program.buffers[variable].type);
        program.steps.push_back(copyStep(fresh, saved));
        fresh = saved;
      }
    for (auto [variable, fresh] : late)
      program.steps.push_back(copyStep(fresh, variable));
  }
  static void replace(ProgramStep &step, BufferId from, BufferId to) {
    llvm::replace(step.reads, from, to);
    llvm::replace(step.writes, from, to);
    if (step.from == from)
      step.from = to;
    if (step.to == from)
      step.to = to;
    if (step.predicate && step.predicate->buffer == from)
      step.predicate->buffer = to;
  }

  /// A value is made in the slot of its first fetch, unless it is made in a variable; other fetches of it are copies.
  void fetchNewValues() {
    for (size_t index = 0; index < program.fetched.size(); ++index) {
      if (settled[index])
        continue;
      BufferId value = program.fetched[index], fetch = fetchBuffer(index);
      if (!isFixed(value))
        program.buffers[value].placedIn = fetch;
      else
        program.steps.push_back(copyStep(value, fetch));
    }
  }

  /// What a branch makes and a branch inside it reads: that the inner condition holds only where the outer one does is
  /// beyond the hazard checker, so such a buffer (no stock graph has one) starts as zeros.
  void fillBeforeInnerConditions() {
    struct Contents {
      size_t firstWrite = 0;
      bool always = false, unproven = false;
      std::set<std::pair<BufferId, bool>> under;
    };
    std::map<BufferId, Contents> contents;
    for (size_t index = 0; index < program.steps.size(); ++index) {
      const ProgramStep &step = program.steps[index];
      std::optional<std::pair<BufferId, bool>> condition;
      if (step.predicate)
        condition = {program.place(step.predicate->buffer), step.predicate->negated};
      for (BufferId id : step.reads)
        if (auto found = contents.find(program.place(id)); found != contents.end())
          found->second.unproven |= !found->second.always && !(condition && found->second.under.contains(*condition));
      for (BufferId id : step.writes) {
        SlotKind kind = program.buffers[program.place(id)].kind;
        if (kind != SlotKind::arena && kind != SlotKind::fetch)
          continue;
        Contents &written = contents.try_emplace(program.place(id), Contents{index, false, false, {}}).first->second;
        written.always |= !condition || written.under.contains({condition->first, !condition->second});
        if (condition)
          written.under.insert(*condition);
      }
    }
    std::multimap<size_t, BufferId> fills;
    for (auto &[id, written] : contents)
      if (written.unproven || (!written.always && program.buffers[id].kind == SlotKind::fetch))
        fills.emplace(written.firstWrite, id);
    for (auto fill = fills.rbegin(); fill != fills.rend(); ++fill) {
      ProgramStep zeros;
      zeros.to = fill->second;
      zeros.writes.push_back(fill->second);
      program.steps.insert(program.steps.begin() + static_cast<int64_t>(fill->first), std::move(zeros));
    }
  }

  SlotId slot(BufferId id) {
    id = program.place(id);
    auto [place, isNew] = slots.try_emplace(id, static_cast<SlotId>(exe.plan.slots.size()));
    if (isNew)
      exe.plan.slots.push_back({program.buffers[id].kind, program.buffers[id].type, program.buffers[id].index});
    return place->second;
  }
  std::optional<Predicate> predicate(const ProgramStep &step) {
    if (!step.predicate)
      return std::nullopt;
    return Predicate{slot(step.predicate->buffer), step.predicate->negated};
  }
  int32_t site(StringRef text) {
    auto [place, isNew] = sites.try_emplace(text, static_cast<int32_t>(exe.sites.size()));
    if (isNew)
      exe.sites.push_back({text.str()});
    return place->second;
  }

  /// Neighbours of one code under one predicate, none of which touches what another writes, are one launch.
  Status joinLaunches() {
    std::set<BufferId> reads, writes; // of the launch so far
    const ProgramStep *before = nullptr;
    for (ProgramStep &step : program.steps) {
      std::set<BufferId> ownReads, ownWrites;
      for (BufferId id : step.reads)
        ownReads.insert(program.place(id));
      for (BufferId id : step.writes)
        ownWrites.insert(program.place(id));
      if (step.predicate)
        ownReads.insert(program.place(step.predicate->buffer));
      if (step.launch) {
        if (!arguments.contains(step.launch.getKernel()))
          return notDescribed(step.launch.getKernel());
        auto meets = [](const std::set<BufferId> &a, const std::set<BufferId> &b) {
          return llvm::any_of(a, [&](BufferId id) { return b.contains(id); });
        };
        step.joined = before && before->launch && keyOf(*before) == keyOf(step) && samePredicate(*before, step) &&
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
  bool samePredicate(const ProgramStep &a, const ProgramStep &b) const {
    if (!a.predicate || !b.predicate)
      return a.predicate.has_value() == b.predicate.has_value();
    return program.place(a.predicate->buffer) == program.place(b.predicate->buffer) &&
           a.predicate->negated == b.predicate->negated;
  }
  llvm::StringRef keyOf(const ProgramStep &step) {
    return arguments.find(LaunchOp(step.launch).getKernel())->second.key;
  }
  static Status notDescribed(llvm::StringRef kernel) {
    return Status(ErrorKind::internal_error, "assign-slots: kernel @" + kernel.str() + " was not described");
  }

  Status writeShadows() {
    std::vector<BufferId> shadowBuffers(program.shadows.size());
    for (size_t id = 0; id < program.buffers.size(); ++id)
      if (program.buffers[id].kind == SlotKind::shadow)
        shadowBuffers[program.buffers[id].index] = static_cast<BufferId>(id);
    for (size_t index = 0; index < program.shadows.size(); ++index) {
      ShadowOp shadow = program.shadows[index];
      const auto launch = arguments.find(refreshName(shadow));
      if (launch == arguments.end())
        return notDescribed(refreshName(shadow));
      const LaunchArguments &refresh = launch->second;
      const BufferId buffer = shadowBuffers[index], source = program.shadowed[index];
      const int64_t number = program.buffers[source].index;
      ShadowSlot out{
          shadow.getSymName().str(), refresh.key, program.buffers[buffer].type, number, std::nullopt, false, {}};
      for (int64_t extent : refresh.extents)
        out.function += "," + std::to_string(extent);
      if (program.buffers[source].kind == SlotKind::shadow) {
        out.source = number;
        out.variable = exe.shadows[number].variable;
        out.function += " of " + exe.shadows[number].function;
      }
      out.written = writtenShadows.contains(index);
      out.refresh = stepOf(refresh, {source}, {buffer});
      out.refresh.site = site("variable " + program.variables[out.variable].path);
      program.variables[out.variable].read = true;
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
    for (size_t id = 0; id < program.buffers.size(); ++id)
      if (program.buffers[id].kind != SlotKind::arena)
        slot(static_cast<BufferId>(id));
    for (ProgramStep &step : program.steps) {
      markVariables(step);
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
  void markVariables(const ProgramStep &step) {
    auto mark = [&](BufferId id, bool VariableSlot::*flag) {
      const Buffer &buffer = program.buffers[program.place(id)];
      if (buffer.kind == SlotKind::variable)
        program.variables[buffer.index].*flag = true;
    };
    for (BufferId id : step.reads)
      mark(id, &VariableSlot::read);
    for (BufferId id : step.writes) {
      mark(id, &VariableSlot::written);
      if (const Buffer &buffer = program.buffers[program.place(id)]; buffer.kind == SlotKind::shadow)
        writtenShadows.insert(buffer.index);
    }
    if (step.predicate)
      mark(step.predicate->buffer, &VariableSlot::read);
  }

  const KernelArguments &arguments;
  SymbolTable symbols;
  Program program;
  Executable exe;
  std::vector<bool> settled; // fetches
  // While variables are updated:
  std::vector<std::vector<size_t>> touching;            // by buffer: the steps, rising
  std::vector<bool> dropped;                            // steps
  DenseMap<BufferId, SmallVector<size_t, 1>> updatesTo; // by new value
  std::set<int64_t> writtenShadows;
  DenseMap<BufferId, SlotId> slots;
  llvm::StringMap<int32_t> sites;
};

} // namespace

std::string refreshName(ShadowOp shadow) { return "refresh_" + shadow.getSymName().str(); }

Status addRefreshKernels(ModuleOp module) {
  SymbolTable symbols(module);
  for (ShadowOp shadow : llvm::to_vector(module.getOps<ShadowOp>())) {
    if (symbols.lookup(refreshName(shadow)))
      return Status(ErrorKind::compile_error, "@" + refreshName(shadow) + ": expected no symbol with the name of the " +
                                                  "kernel that refreshes shadow @" + shadow.getSymName().str());
    OpBuilder builder(shadow);
    auto type = builder.getFunctionType(shadow.getBody().getArgumentTypes(), {shadow.getType()});
    auto kernel = KernelOp::create(builder, shadow.getLoc(), KernelKind::loop, refreshName(shadow), type, nullptr);
    IRMapping mapping;
    shadow.getBody().cloneInto(&kernel.getBody(), mapping);
    symbols.insert(kernel);
  }
  return Status::ok();
}

StatusOr<Executable> assignSlots(ModuleOp module, const KernelArguments &arguments) {
  auto program = flatten(module);
  if (!program)
    return program.status();
  return SlotAssigner(arguments, module, std::move(*program)).run();
}

} // namespace halftone::compiler
