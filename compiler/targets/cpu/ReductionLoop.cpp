// Reduction loops.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: for kept row in block: for column, a few vectors at a time:
//     accumulators; for each reduced index, in order: body; then the epilogue's body on the totals
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/cpu/Emitters.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

class ReductionLoopEmitter {
public:
  explicit ReductionLoopEmitter(KernelFrame &frame)
      : frame(frame), vectorDim(int(frame.dims) - 1), accumulation(frame.source.generics[0]),
        epilogue(frame.source.generics[1]) {
    for (int dim = 0; dim < frame.dims; ++dim) {
      if (dim >= frame.source.form.outer && dim < frame.source.form.outer + frame.source.form.reduced)
        reduced.push_back(dim);
      else if (dim != vectorDim)
        rows.push_back(dim);
    }
  }
  void emit();

private:
  /// `groups` steps of the given lanes, side by side, at the present row and column.
  void emitColumns(Emitted column, const Lanes &lanes, int64_t groups);
  void emitRow(Emitted columnBegin, Emitted columnEnd);
  Values accumulate(ArrayRef<Emitted> accumulators, const Lanes &lanes);
  void finish(ArrayRef<Emitted> totals, const Lanes &lanes);

  KernelFrame &frame;
  int vectorDim;
  linalg::GenericOp accumulation, epilogue;
  SmallVector<int> reduced, rows;
};

Values ReductionLoopEmitter::accumulate(ArrayRef<Emitted> accumulators, const Lanes &lanes) {
  Values arguments = loadInputs(frame, accumulation, lanes);
  arguments.append(accumulators.begin(), accumulators.end());
  return emitBody(frame, accumulation, arguments, lanes);
}

void ReductionLoopEmitter::finish(ArrayRef<Emitted> totals, const Lanes &lanes) {
  for (auto [result, total] : llvm::zip(accumulation.getResults(), totals))
    frame.storage[result] = {{}, total.type(), total};
  storeOutputs(frame, epilogue, lanes);
}

void ReductionLoopEmitter::emitColumns(Emitted column, const Lanes &lanes, int64_t groups) {
  const auto count = size_t(accumulation.getNumDpsInits());
  Values initial, columns;
  for (int64_t group = 0; group < groups; ++group) {
    columns.push_back(group == 0 ? column : column + group * lanes.count);
    for (unsigned output = 0; output < count; ++output)
      initial.push_back(frame.splat(frame.initialOf(accumulation, output), lanes.count));
  }
  const Values totals = frame.loops(reduced, initial, [&](const Values &accumulators) {
    Values next;
    for (size_t group = 0; group < columns.size(); ++group) {
      frame.index[vectorDim] = columns[group];
      next.append(accumulate(ArrayRef<Emitted>(accumulators).slice(group * count, count), lanes));
    }
    return next;
  });
  for (size_t group = 0; group < columns.size(); ++group) {
    frame.index[vectorDim] = columns[group];
    finish(ArrayRef<Emitted>(totals).slice(group * count, count), lanes);
  }
}

void ReductionLoopEmitter::emitRow(Emitted columnBegin, Emitted columnEnd) {
  const int64_t groups = isShort(accumulation) && accumulation.getNumDpsInits() == 1 ? 8 : 4;
  const auto segment = [&](Emitted begin, Emitted end, int64_t step, const Lanes &lanes, int64_t count) {
    frame.loop(begin, end, frame.constant(step), [&](Emitted column) {
      frame.index[vectorDim] = column;
      emitColumns(column, lanes.limit ? maskedLanes(frame, lanes.count, vectorDim, lanes.limit) : lanes, count);
    });
  };
  const auto upTo = [&](Emitted begin, int64_t step) {
    const Emitted steps = frame.constant(step);
    return begin + divideUnsigned(columnEnd - begin, steps) * steps;
  };
  const Emitted manyEnd = upTo(columnBegin, groups * frame.lanes);
  const Emitted oneEnd = upTo(manyEnd, frame.lanes);
  const Lanes whole{frame.lanes, vectorDim};
  segment(columnBegin, manyEnd, groups * frame.lanes, whole, groups);
  segment(manyEnd, oneEnd, frame.lanes, whole, 1);
  if (frame.target.hasMaskedMemory)
    segment(oneEnd, columnEnd, frame.lanes, {frame.lanes, vectorDim, {}, columnEnd}, 1);
  else
    segment(oneEnd, columnEnd, 1, {0, vectorDim}, 1);
}

void ReductionLoopEmitter::emit() {
  const Emitted one = frame.constant(1), columns = frame.extents[vectorDim], rowCount = frame.size(rows);
  const Emitted blockRows = frame.extents[frame.dims], blockColumns = frame.extents[frame.dims + 1];
  const Emitted columnBlocks = ceilDivideUnsigned(columns, blockColumns);
  frame.loop(frame.blockBegin, frame.blockEnd, one, [&](Emitted block) {
    const Emitted rowBegin = divideUnsigned(block, columnBlocks) * blockRows;
    const Emitted rowEnd = minimum(rowCount, rowBegin + blockRows);
    const Emitted columnBegin = remainderUnsigned(block, columnBlocks) * blockColumns;
    const Emitted columnEnd = minimum(columns, columnBegin + blockColumns);
    frame.loop(rowBegin, rowEnd, one, [&](Emitted row) {
      frame.delinearize(row, rows);
      emitRow(columnBegin, columnEnd);
    });
  });
}

} // namespace

void emitReductionLoop(KernelFrame &frame) { ReductionLoopEmitter(frame).emit(); }

} // namespace halftone::compiler
