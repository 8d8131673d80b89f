// Elementwise loops and row kernels: blocks of rows, each row phase by phase along its inner dims.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: for row in block: for each generic: for inner index, a vector at a time: body
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/RowSquares.h"
#include "compiler/targets/cpu/RowSums.h"
#include "compiler/targets/cpu/x86/Streaming.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

class RowEmitter {
public:
  explicit RowEmitter(KernelFrame &frame) : frame(frame), plan(frame), vectors(frame), sums(plan, vectors) {}
  LogicalResult emit(bool isLoop);

private:
  using Phase = RowPlan::Phase;
  using Columns = RowPlan::Columns;

  void emitStagedRows(Emitted rowBegin, Emitted rowEnd, const Columns &columns);
  void emitRows(Emitted rowBegin, Emitted rowEnd, const Columns &columns);
  void emitRow(const Columns &columns);
  void emitInner(Phase &phase, const Columns &columns);
  Values emitEitherWay(Phase &phase, const Columns &columns);

  KernelFrame &frame;
  RowPlan plan;
  RowVectors vectors;
  RowSums sums;
  Emitted stagedBegin; // the first of the staged rows
};

LogicalResult RowEmitter::emit(bool isLoop) {
  plan.readPhases();
  sums.placeTotals(plan.placeScratch());
  if (failed(plan.findPacked()))
    return failure();
  if (!isLoop) {
    plan.choosePrefetches();
    plan.chooseStreams();
  }
  const Emitted rows = frame.size(plan.outer), blockRows = frame.extents[size_t(frame.dims)];
  RowSquares squares(plan, vectors);
  const bool inSquares = isLoop && squares.hasTransposed();
  if (isLoop && !inSquares && plan.packed.empty())
    plan.findKept();
  const Emitted one = frame.constant(1), columnCount = frame.extents[size_t(frame.dims - 1)];
  const Emitted blockColumns = isLoop ? frame.extents[size_t(frame.dims + 1)] : columnCount;
  const Emitted columnBlocks = isLoop ? ceilDivideUnsigned(columnCount, blockColumns) : one;
  frame.loop(frame.blockBegin, frame.blockEnd, one, [&](Emitted block) {
    const Emitted rowBlock = isLoop ? divideUnsigned(block, columnBlocks) : block;
    const Emitted columnBegin = isLoop ? remainderUnsigned(block, columnBlocks) * blockColumns : frame.constant(0);
    const Columns columns{columnBegin, isLoop ? minimum(columnCount, columnBegin + blockColumns) : columnCount};
    const Emitted rowBegin = rowBlock * blockRows;
    const Emitted rowEnd = minimum(rows, rowBegin + blockRows);
    sums.clearPartials(block);
    if (inSquares)
      squares.emit(rowBegin, rowEnd, columns, [&](const Columns &rest) { emitRow(rest); });
    else if (!plan.packed.empty())
      emitStagedRows(rowBegin, rowEnd, columns);
    else
      sums.emitRowChunks(rowBegin, rowEnd, [&](Emitted begin, Emitted end) { emitRows(begin, end, columns); });
  });
  if (plan.streams)
    frame.branch(plan.streams, [&] { storeFence(frame); });
  return success();
}

/// Emits some rows at a time and then moves their packed results to the panels.
void RowEmitter::emitStagedRows(Emitted rowBegin, Emitted rowEnd, const Columns &columns) {
  const Emitted step = frame.constant(stagedRows);
  frame.loop(rowBegin, rowEnd, step, [&](Emitted begin) {
    const Emitted end = minimum(rowEnd, begin + step);
    stagedBegin = begin;
    emitRows(begin, end, columns);
    for (auto &[output, store] : plan.packed)
      store.move(begin, end, columns.begin, columns.end);
  });
}

void RowEmitter::emitRows(Emitted rowBegin, Emitted rowEnd, const Columns &columns) {
  const Emitted one = frame.constant(1), rows = frame.size(plan.outer);
  frame.loop(rowBegin, rowEnd, one, [&](Emitted row) {
    frame.delinearize(row, plan.outer);
    for (auto &[output, store] : plan.packed)
      output->storage.pointer = frame.address(store.staged(row - stagedBegin), output->storage.element, -columns.begin);
    vectors.nextRow = select(row + one < rows, frame.size(plan.inner), frame.constant(0));
    if (plan.kept)
      frame.branch(negated(plan.isInPlace) | plan.kept->areNew(), [&] { emitRow(columns); });
    else
      emitRow(columns);
  });
}

void RowEmitter::emitRow(const Columns &columns) {
  for (Phase &phase : plan.phases)
    if (phase.inner.empty()) // over outer dims only: one scalar step
      vectors.emitStep(phase, {}, {});
    else
      emitInner(phase, columns);
}

void RowEmitter::emitInner(Phase &phase, const Columns &columns) {
  for (auto [input, access] : llvm::enumerate(phase.inputAccesses)) {
    const bool isOfRow = llvm::none_of(access.dims, [&](int dim) { return llvm::is_contained(phase.inner, dim); });
    if (isOfRow && !vectors.loadedInputs.contains(input) && !phase.generic.getBody()->getArgument(input).use_empty())
      vectors.loadedInputs[input] =
          loadLanes(frame, frame.storage.lookup(phase.generic.getDpsInputs()[input]), access, {});
  }
  // Phases with a shape of their own process whole rows.
  const bool isOfShape = phase.vectorDim() != frame.dims - 1;
  sums.finish(phase,
              emitEitherWay(phase, isOfShape ? Columns{columns.begin, frame.extents[phase.vectorDim()]} : columns));
  vectors.loadedInputs.clear();
}

/// Emits the phase's loops, a second time with non-temporal stores if results may use them.
Values RowEmitter::emitEitherWay(Phase &phase, const Columns &columns) {
  const auto loops = [&] { return sums.emitTotals(phase, columns); };
  if (!plan.streams || llvm::none_of(phase.outputs, [](const RowPlan::Output &output) { return output.mayStream; }))
    return loops();
  const auto past = [&] {
    vectors.streaming = true;
    Values values = loops();
    vectors.streaming = false;
    return values;
  };
  return frame.choose(plan.streams, past, loops);
}

} // namespace

LogicalResult emitLoop(KernelFrame &frame) { return RowEmitter(frame).emit(/*isLoop=*/true); }
LogicalResult emitRow(KernelFrame &frame) { return RowEmitter(frame).emit(/*isLoop=*/false); }

} // namespace halftone::compiler
