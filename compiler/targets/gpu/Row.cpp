// Row kernels, and finish kernels as one row of several shapes: a block's rows, phase by phase.
// SPDX-License-Identifier: Apache-2.0
//
//   for the team's rows in the block: for each generic: for the thread's vectors: loads, body, stores; totals of the row
//   then totals of the block: partial reductions
#include "compiler/kernels/LongSums.h"
#include "compiler/targets/gpu/Emitters.h"
#include "compiler/targets/gpu/RowHeld.h"
#include "compiler/targets/gpu/RowPartials.h"
#include "compiler/targets/gpu/Schedules.h"
#include "mlir/IR/TypeUtilities.h"
#include "runtime/plan/Abi.h"
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;
using Combining = RowOutput::Combining;

namespace {

void whereInside(CodeBuilder &builder, Emitted condition, llvm::function_ref<void()> code) {
  if (condition)
    builder.branch(condition, code);
  else
    code();
}

Values running(const RowPhase &phase) {
  Values values;
  for (const RowOutput &output : phase.outputs)
    values.append(output.running);
  return values;
}

void setRunning(RowPhase &phase, ArrayRef<Emitted> values) {
  for (RowOutput &output : phase.outputs)
    for (Emitted &value : output.running) {
      value = values.front();
      values = values.drop_front();
    }
}

/// Emits teams of threads that hold a row in registers, or all threads along a long row.
class TeamRowEmitter {
public:
  TeamRowEmitter(GridFrame &frame, const RowTile &tile)
      : frame(frame), tile(tile), teams(frame, tile), partials(teams, phases), held(teams) {}
  LogicalResult emit();

private:
  void placeScratch();
  void emitRow(Emitted row);
  void emitInner(RowPhase &phase);
  void emitOuter(RowPhase &phase);
  void emitSteps(RowPhase &phase, ArrayRef<RowStep> steps);
  Values bodyAt(RowPhase &phase, size_t step, const RowStep &position);
  void storeAt(RowPhase &phase, const Values &yields);
  void totalRow(RowPhase &phase);

  GridFrame &frame;
  const RowTile tile;
  RowTeams teams;
  std::vector<RowPhase> phases;
  RowPartials partials;
  RowHeld held;
};

LogicalResult TeamRowEmitter::emit() {
  for (linalg::GenericOp generic : frame.source.generics) {
    FailureOr<RowPhase> phase = teams.phaseOf(generic);
    if (failed(phase))
      return failure();
    phases.push_back(std::move(*phase));
  }
  placeScratch();
  partials.begin();
  const Emitted blockRows = frame.extents[size_t(frame.dims)], begin = frame.block * blockRows;
  const Emitted end = minimum(frame.size(teams.outer), begin + blockRows);
  // All threads have the same number of iterations, since they synchronize at barriers and in shuffles.
  constexpr int levels = 2; // accumulators of columns take many registers
  const Values totals = sumInRegisters(
      frame, partials.combiners(), begin, end, frame.constant(tile.teams), partials.running(),
      [&](Emitted first, const Values &before) {
        partials.setRunning(before);
        const Emitted row = first + teams.threads.rowThread;
        teams.isRowInside = tile.teams > 1 ? row < end : Emitted();
        emitRow(row);
        return partials.running();
      },
      levels);
  partials.setRunning(totals);
  teams.isRowInside = {};
  partials.finish();
  return success();
}

void TeamRowEmitter::emitRow(Emitted row) {
  frame.delinearize(row, teams.outer);
  held.shrink(0);
  for (RowPhase &phase : phases)
    if (phase.inner.empty())
      emitOuter(phase);
    else
      emitInner(phase);
}

/// Assigns a row of scratch to each tensor between phases, unless the steps hold it.
void TeamRowEmitter::placeScratch() {
  Emitted next = frame.asLong(frame.constant(0));
  for (RowPhase &phase : phases)
    for (RowOutput &output : phase.outputs) {
      if (output.storage.pointer || !output.combiner.empty() || teams.keepsRows())
        continue;
      const Value result = phase.generic.getResult(output.position);
      const Type element = getElementTypeOrSelf(result);
      output.storage = {frame.address(frame.scratch, frame.getI8Type(), next), element, {}, true};
      frame.storage[result] = output.storage;
      const Emitted bytes = frame.asLong(frame.size(teams.inner)) * elementBytes(element);
      next = next + ceilDivideUnsigned(bytes, bytes.like(bufferAlignment)) * bufferAlignment;
    }
}

/// The values that the body yields at a step. Accumulators are updated only if the step is inside the row.
Values TeamRowEmitter::bodyAt(RowPhase &phase, size_t step, const RowStep &position) {
  Values arguments = held.inputsAt(phase, step);
  for (RowOutput &output : phase.outputs) {
    if (output.combining == Combining::none)
      arguments.push_back({});
    else if (output.combining == Combining::memory)
      arguments.push_back(held.loadIf(position.isInside, output.storage, output.access, phase.lanes));
    else
      arguments.push_back(output.running[output.running.size() > 1 ? step : 0]);
  }
  const Values yields = emitBody(frame, phase.generic, arguments, phase.lanes);
  for (RowOutput &output : phase.outputs)
    if (!output.running.empty()) {
      Emitted &running = output.running[output.running.size() > 1 ? step : 0];
      running =
          position.isInside ? select(position.isInside, yields[output.position], running) : yields[output.position];
    }
  return yields;
}

void TeamRowEmitter::storeAt(RowPhase &phase, const Values &yields) {
  for (const RowOutput &output : phase.outputs)
    if (output.storage.pointer && (output.combining == Combining::none || output.combining == Combining::memory))
      storeLanes(frame, yields[output.position], output.storage, output.access, phase.lanes);
}

/// Emits the loads of all steps, then bodies, then stores.
void TeamRowEmitter::emitSteps(RowPhase &phase, ArrayRef<RowStep> steps) {
  held.load(phase, steps);
  std::vector<Values> yields;
  for (auto [position, step] : llvm::enumerate(steps)) {
    teams.moveTo(phase, step);
    yields.push_back(bodyAt(phase, position, step));
  }
  for (auto [step, values] : llvm::zip(steps, yields)) {
    teams.moveTo(phase, step);
    whereInside(frame, step.isInside, [&] { storeAt(phase, values); });
  }
  for (const RowOutput &output : phase.outputs) {
    if (output.combining != Combining::none)
      continue;
    Values values;
    for (const Values &each : yields)
      values.push_back(each[output.position]);
    held.keep(phase, output, values);
  }
}

/// Combines the accumulators of the row across the team.
void TeamRowEmitter::totalRow(RowPhase &phase) {
  SmallVector<std::string> combiners;
  Values own;
  for (const RowOutput &output : phase.outputs)
    if (output.combining == Combining::row) {
      combiners.push_back(output.combiner);
      own.append(output.running);
    }
  if (own.empty())
    return;
  const Values totals = teams.total(combiners, own);
  size_t next = 0;
  for (RowOutput &output : phase.outputs)
    if (output.combining == Combining::row) {
      const Emitted total = totals[next++];
      frame.storage[phase.generic.getResult(output.position)] = {{}, total.type(), total};
      output.running.clear();
    }
}

void TeamRowEmitter::emitInner(RowPhase &phase) {
  held.load(phase, {});
  for (RowOutput &output : phase.outputs)
    if (output.combining == Combining::row)
      output.running = {frame.splat(frame.initialOf(phase.generic, output.position), phase.lanes.count)};
  if (teams.keepsRows()) {
    emitSteps(phase, teams.stepsFrom(phase, frame.constant(0)));
  } else {
    const Emitted stride = frame.constant(RowTeams::longSteps * tile.across * tile.vector);
    const size_t known = held.size();
    const Values before = running(phase);
    Values neutral;
    SmallVector<std::string> combiners;
    for (const RowOutput &output : phase.outputs)
      for (size_t position = 0; position < output.running.size(); ++position) {
        neutral.push_back(frame.splat(frame.initialOf(phase.generic, output.position), phase.lanes.count));
        combiners.push_back(output.combiner);
      }
    const Values totals = sumInRegisters(frame, combiners, frame.constant(0), frame.size(phase.inner), stride, neutral,
                                         [&](Emitted begin, const Values &values) {
                                           setRunning(phase, values);
                                           emitSteps(phase, teams.stepsFrom(phase, begin));
                                           return running(phase);
                                         });
    setRunning(phase, combineAll(frame, combiners, before, totals));
    held.shrink(known); // values of one iteration
  }
  totalRow(phase);
}

/// Emits a phase over outer dims only; the values of the team's first thread are used.
void TeamRowEmitter::emitOuter(RowPhase &phase) {
  held.load(phase, {});
  const RowStep row{{}, both(teams.isFirst(), teams.isRowInside)};
  const Values yields = bodyAt(phase, 0, row);
  if (teams.outer.empty()) // a result may overwrite an operand that threads still read
    frame.barrier();
  frame.branch(row.isInside, [&] { storeAt(phase, yields); });
}

} // namespace

FailureOr<std::string> emitRow(GridFrame &frame) {
  const ScheduleAttrInterface schedule = frame.source.form.schedule;
  const auto row = dyn_cast_or_null<gpu::RowScheduleAttr>(schedule);
  if (!row)
    return emitUnexpected(schedule, "#halftone_gpu.row", frame.source.function);
  const RowTile tile{row.getTeams(), row.getAcross(), row.getVector(), row.getSteps()};
  if (failed(TeamRowEmitter(frame, tile).emit()))
    return failure();
  return fmt::format("{} x {} threads, vectors of {}, {}", tile.teams, tile.across, tile.vector,
                     tile.steps > 0 ? fmt::format("{} of a row in registers", tile.steps) : "rows in steps");
}

} // namespace halftone::compiler
