// Row kernels, and one row of several shapes: a block's rows, each phase by phase.
// SPDX-License-Identifier: Apache-2.0
//
//   for the team's rows in the block: for each generic: for the thread's vectors: loads, body, stores; totals of the row
//   then totals of the block: side reductions
#include "compiler/targets/gpu/Row.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/LongSums.h"
#include "compiler/targets/gpu/Emitters.h"
#include "compiler/targets/gpu/RowThreads.h"
#include "mlir/IR/TypeUtilities.h"
#include "runtime/plan/Abi.h"
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;

/// The block's threads as teams.
static ThreadTile teamsOf(GridFrame &frame, const RowTile &tile) {
  frame.threads = tile.teams * tile.across;
  return {frame, frame.constant(tile.across * tile.vector), tile.vector};
}

TeamRowEmitter::TeamRowEmitter(GridFrame &frame, const RowTile &tile)
    : frame(frame), tile(tile), threads(teamsOf(frame, tile)) {
  for (int dim = 0; dim < frame.dims; ++dim)
    (dim < frame.source.form.outer ? outer : inner).push_back(dim);
}

FailureOr<TeamRowEmitter::Phase> TeamRowEmitter::phaseOf(linalg::GenericOp generic) {
  Phase phase;
  phase.generic = generic;
  for (OpOperand *operand : generic.getDpsInputOperands())
    phase.inputAccesses.push_back(frame.source.accessOf(generic, *operand));
  for (int dim : dimsOf(generic))
    if (dim >= frame.source.form.outer)
      phase.inner.push_back(dim);
  if (!phase.inner.empty())
    phase.lanes = {tile.vector > 1 ? tile.vector : 0, phase.inner.back(), {}, {}, /*isAligned=*/true};
  for (auto [position, combiner] : llvm::enumerate(combinersOf(generic))) {
    const Value result = generic.getResult(position);
    Output output{unsigned(position), combiner,
                  frame.source.accessOf(generic, *generic.getDpsInitOperand(int64_t(position))),
                  frame.storage.lookup(result)};
    FailureOr<Combining> combining = combiningOf(phase, output);
    if (failed(combining))
      return failure();
    output.combining = *combining;
    phase.outputs.push_back(std::move(output));
  }
  return phase;
}

FailureOr<TeamRowEmitter::Combining> TeamRowEmitter::combiningOf(Phase &phase, const Output &output) {
  if (output.combiner.empty())
    return Combining::none;
  if (frame.source.formOf(phase.generic->getResult(output.position)).partial.empty())
    return Combining::row;
  ArrayRef<int> kept = output.access.dims;
  if (kept.empty())
    return Combining::block;
  const int64_t innerKept = llvm::count_if(kept, [&](int dim) { return llvm::is_contained(phase.inner, dim); });
  if (innerKept != 0 && innerKept != int64_t(phase.inner.size()))
    return phase.generic.emitError(
        "a side reduction of a row kernel keeps some of the row's axes; expected all or none");
  if (keepsRows() && innerKept == int64_t(kept.size()))
    return Combining::columns;
  if (tile.teams != 1 || (innerKept == 0 && !phase.inner.empty()))
    return phase.generic.emitError(
        "a side reduction of a row kernel keeps axes of which several threads have an index");
  return Combining::memory;
}

/// Gives each tensor between phases its row of scratch, unless the steps hold it.
void TeamRowEmitter::placeScratch() {
  Emitted next = frame.asLong(frame.constant(0));
  for (Phase &phase : phases)
    for (Output &output : phase.outputs) {
      if (output.storage.pointer || !output.combiner.empty() || keepsRows())
        continue;
      const Value result = phase.generic.getResult(output.position);
      const Type element = getElementTypeOrSelf(result);
      output.storage = {frame.address(frame.scratch, frame.getI8Type(), next), element, {}, true};
      frame.storage[result] = output.storage;
      const Emitted bytes = frame.asLong(frame.size(inner)) * elementBytes(element);
      next = next + ceilDivideUnsigned(bytes, bytes.like(bufferAlignment)) * bufferAlignment;
    }
}

/// Points each side reduction to the block's piece of its buffer, and gives it its first value.
void TeamRowEmitter::beginPieces() {
  bool clears = false;
  for (Phase &phase : phases)
    for (Output &output : phase.outputs) {
      if (output.combiner.empty() || output.combining == Combining::row)
        continue;
      const Emitted neutral = frame.initialOf(phase.generic, output.position);
      const Emitted size = frame.size(output.access.dims);
      TensorStorage &storage = output.storage;
      storage.pointer = frame.address(storage.pointer, storage.element, frame.block * size);
      if (output.combining != Combining::memory) {
        const size_t count = output.combining == Combining::columns ? size_t(tile.steps) : 1;
        output.running.assign(count, frame.splat(neutral, phase.lanes.count));
        continue;
      }
      clears = true;
      frame.loop(frame.thread, size, frame.constant(frame.threads),
                 [&](Emitted at) { frame.store(neutral, frame.address(storage.pointer, storage.element, at)); });
    }
  if (clears)
    frame.barrier();
}

/// Stores the totals of side reductions that `outputs`, of one combiner, have in registers.
void TeamRowEmitter::finishPiece(Phase &phase, ArrayRef<Output *> outputs) {
  SmallVector<std::string> combiners;
  for (const Output *output : outputs)
    combiners.push_back(output->combiner);
  const auto valuesOf = [&](size_t step) {
    Values values;
    for (const Output *output : outputs)
      values.push_back(output->running[step]);
    return values;
  };
  const bool isOne = outputs.front()->combining == Combining::block;
  SmallVector<Step> steps(1);
  if (!isOne)
    steps = stepsFrom(phase, frame.constant(0));
  for (auto [position, step] : llvm::enumerate(steps)) {
    Values values = valuesOf(position);
    if (isOne && !phase.inner.empty())
      values = overTeam(combiners, values);
    if (tile.teams > 1)
      values = foldRows(frame, threads, combiners, values);
    const Emitted isFirst = equal(threads.rowThread, threads.rowThread.like(0));
    const Emitted writes = isFirst & (isOne ? equal(threads.thread, threads.thread.like(0)) : step.isInside);
    frame.branch(writes, [&] {
      if (!isOne)
        standAt(phase, step);
      for (auto [output, value] : llvm::zip(outputs, values))
        storeLanes(frame, value, output->storage, output->access, isOne ? Lanes() : phase.lanes);
    });
  }
}

void TeamRowEmitter::finishPieces() {
  for (Phase &phase : phases)
    for (size_t position = 0; position < phase.outputs.size(); ++position) {
      Output &output = phase.outputs[position];
      if (output.combining != Combining::block && output.combining != Combining::columns)
        continue;
      SmallVector<Output *> outputs{&output};
      if (isArgCombiner(output.combiner))
        outputs.push_back(&phase.outputs[++position]);
      finishPiece(phase, outputs);
    }
}

LogicalResult TeamRowEmitter::emit() {
  for (linalg::GenericOp generic : frame.source.generics) {
    FailureOr<Phase> phase = phaseOf(generic);
    if (failed(phase))
      return failure();
    phases.push_back(std::move(*phase));
  }
  placeScratch();
  beginPieces();
  const Emitted blockRows = frame.extents[size_t(frame.dims)], begin = frame.block * blockRows;
  const Emitted end = minimum(frame.size(outer), begin + blockRows);
  // All threads make as many turns, since they meet at barriers and in shuffles.
  constexpr int levels = 2; // accumulators of columns take many registers
  const Values totals = sumInRegisters(
      frame, blockCombiners(), begin, end, frame.constant(tile.teams), blockTotals(),
      [&](Emitted first, const Values &before) {
        setBlockTotals(before);
        const Emitted row = first + threads.rowThread;
        isRowInside = tile.teams > 1 ? row < end : Emitted();
        emitRow(row);
        return blockTotals();
      },
      levels);
  setBlockTotals(totals);
  isRowInside = {};
  finishPieces();
  return success();
}

void TeamRowEmitter::emitRow(Emitted row) {
  frame.delinearize(row, outer);
  held.clear();
  for (Phase &phase : phases)
    if (phase.inner.empty())
      emitOuter(phase);
    else
      emitInner(phase);
}

Values TeamRowEmitter::blockTotals() {
  Values totals;
  for (const Phase &phase : phases)
    for (const Output &output : phase.outputs)
      if (output.combining == Combining::block || output.combining == Combining::columns)
        totals.append(output.running);
  return totals;
}

SmallVector<std::string> TeamRowEmitter::blockCombiners() const {
  SmallVector<std::string> combiners;
  for (const Phase &phase : phases)
    for (const Output &output : phase.outputs)
      if (output.combining == Combining::block || output.combining == Combining::columns)
        combiners.append(output.running.size(), output.combiner);
  return combiners;
}

void TeamRowEmitter::setBlockTotals(ArrayRef<Emitted> values) {
  for (Phase &phase : phases)
    for (Output &output : phase.outputs)
      if (output.combining == Combining::block || output.combining == Combining::columns)
        for (Emitted &value : output.running) {
          value = values.front();
          values = values.drop_front();
        }
}

FailureOr<std::string> emitRow(GridFrame &frame) {
  func::FuncOp function = frame.source.function;
  FailureOr<std::optional<RowTile>> found = RowTile::read(function);
  if (failed(found))
    return failure();
  if (!*found || (*found)->across < warpLanes || (*found)->teams * (*found)->across > mostRowThreads)
    return function.emitError("expected halftone.row_tile with teams of whole warps, of at most ")
           << mostRowThreads << " threads";
  const RowTile tile = **found;
  if (failed(TeamRowEmitter(frame, tile).emit()))
    return failure();
  return fmt::format("{} x {} threads, vectors of {}, {}", tile.teams, tile.across, tile.vector,
                     tile.steps > 0 ? fmt::format("{} of a row in registers", tile.steps) : "rows in steps");
}

} // namespace halftone::compiler
