// Scatter kernels: a block owns a range of rows and processes the indices in order.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: rows = 0, or x unless they are in x's memory
//     for each index, in order: if it selects a row of the block:
//       for column, a vector at a time: row = row combined with the update
#include "compiler/kernels/ScatterParts.h"
#include "compiler/targets/cpu/Emitters.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

class ScatterEmitter : ScatterParts {
public:
  explicit ScatterEmitter(KernelFrame &frame) : ScatterParts(frame), frame(frame) {}
  void emit();

private:
  void forColumns(llvm::function_ref<void(const Lanes &)> step);
  void addPart(Emitted rowBegin, Emitted rowEnd);

  KernelFrame &frame;
};

/// Calls `step` for all columns at the current row: whole vectors, then a masked step or scalar ones.
void ScatterEmitter::forColumns(llvm::function_ref<void(const Lanes &)> step) {
  frame.loops(ArrayRef<int>(inner).drop_back(), {}, [&](const Values &) {
    const Emitted columns = frame.extents[vectorDim], lanes = frame.constant(frame.lanes);
    const Emitted wholeEnd = divideUnsigned(columns, lanes) * lanes;
    const bool masked = frame.target.hasMaskedMemory;
    frame.loop(frame.constant(0), wholeEnd, lanes, [&](Emitted column) {
      frame.index[vectorDim] = column;
      step({frame.lanes, vectorDim});
    });
    frame.loop(wholeEnd, columns, masked ? lanes : frame.constant(1), [&](Emitted column) {
      frame.index[vectorDim] = column;
      step(masked ? maskedLanes(frame, frame.lanes, vectorDim, columns) : Lanes{0, vectorDim});
    });
    return Values();
  });
}

/// Combines the slice of the updates at the current index if the index selects a row of the block.
void ScatterEmitter::addPart(Emitted rowBegin, Emitted rowEnd) {
  const Emitted row = namedRow();
  frame.branch((row >= rowBegin) & (row < rowEnd), [&] {
    moveToRow(row);
    forColumns([&](const Lanes &lanes) { add(lanes); });
  });
}

void ScatterEmitter::emit() {
  const Emitted one = frame.constant(1), rows = frame.extents[rowDim], blockRows = frame.extents[frame.dims];
  const Emitted rowBlocks = ceilDivideUnsigned(rows, blockRows), indices = frame.size(index);
  frame.loop(frame.blockBegin, frame.blockEnd, one, [&](Emitted block) {
    frame.delinearize(divideUnsigned(block, rowBlocks), outer);
    const Emitted rowBegin = remainderUnsigned(block, rowBlocks) * blockRows;
    const Emitted rowEnd = minimum(rows, rowBegin + blockRows);
    clearWhereNeeded([&] {
      frame.loop(rowBegin, rowEnd, one, [&](Emitted row) {
        frame.index[rowDim] = row;
        forColumns([&](const Lanes &lanes) { clear(lanes); });
      });
    });
    frame.loop(frame.constant(0), indices, one, [&](Emitted at) {
      frame.delinearize(at, index);
      addPart(rowBegin, rowEnd);
    });
  });
}

} // namespace

void emitScatter(KernelFrame &frame) { ScatterEmitter(frame).emit(); }

} // namespace halftone::compiler
