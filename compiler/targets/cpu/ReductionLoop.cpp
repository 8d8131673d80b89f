// Reduction loops.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: for kept row in block: for column, a few vectors at a time:
//     accumulators; for each reduced index, in order: body; then the epilogue's body on the totals
// A row at which no tap of a window leaves its image has code without tests of taps.
#include "compiler/kernels/Lanes.h"
#include "compiler/kernels/WindowInterior.h"
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
    interior.emplace(frame, accumulation, reduced);
  }
  void emit();

private:
  /// `groups` steps of the given lanes, side by side, at the present row and column.
  void emitColumns(Emitted column, const Lanes &lanes, int64_t groups);
  void emitRow(Emitted columnBegin, Emitted columnEnd);
  /// The columns of the present row, accumulated by `generic`.
  void emitRowBy(linalg::GenericOp generic, Emitted columnBegin, Emitted columnEnd);
  Values accumulate(ArrayRef<Emitted> accumulators, const Lanes &lanes);
  void finish(ArrayRef<Emitted> totals, const Lanes &lanes);

  KernelFrame &frame;
  int vectorDim;
  linalg::GenericOp accumulation, epilogue;
  linalg::GenericOp body; // of the present code: `accumulation`, or it without the bounds of its windows
  SmallVector<int> reduced, rows;
  std::optional<WindowInterior> interior;
};

Values ReductionLoopEmitter::accumulate(ArrayRef<Emitted> accumulators, const Lanes &lanes) {
  Values arguments = loadInputs(frame, body, lanes);
  arguments.append(accumulators.begin(), accumulators.end());
  return emitBody(frame, body, arguments, lanes);
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
  const auto by = [&](linalg::GenericOp generic) {
    return [&, generic] { emitRowBy(generic, columnBegin, columnEnd); };
  };
  if (interior->isKnown(vectorDim))
    frame.branch(interior->holds(), by(interior->generic()), by(accumulation));
  else
    by(accumulation)();
}

void ReductionLoopEmitter::emitRowBy(linalg::GenericOp generic, Emitted columnBegin, Emitted columnEnd) {
  body = generic;
  // So many vectors side by side; a body without bounds leaves registers for many.
  const bool isSmall = (isShort(body) || body != accumulation) && body.getNumDpsInits() == 1;
  const SmallVector<int64_t> groups = isSmall ? SmallVector<int64_t>{8, 4, 1} : SmallVector<int64_t>{4, 1};
  const auto segment = [&](Emitted begin, Emitted end, int64_t step, const Lanes &lanes, int64_t count) {
    frame.loop(begin, end, frame.constant(step), [&](Emitted column) {
      frame.index[vectorDim] = column;
      emitColumns(column, lanes.limit ? maskedLanes(frame, lanes.count, vectorDim, lanes.limit) : lanes, count);
    });
  };
  Emitted begin = columnBegin;
  for (int64_t count : groups) {
    const int64_t step = count * frame.lanes;
    const Emitted end = begin + divideUnsigned(columnEnd - begin, frame.constant(step)) * step;
    segment(begin, end, step, {frame.lanes, vectorDim}, count);
    begin = end;
  }
  if (frame.target.hasMaskedMemory)
    segment(begin, columnEnd, frame.lanes, {frame.lanes, vectorDim, {}, columnEnd}, 1);
  else
    segment(begin, columnEnd, 1, {0, vectorDim}, 1);
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
