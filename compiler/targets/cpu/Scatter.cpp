// Scatter kernels: a block owns a range of rows and goes through the indices in order.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: rows = 0
//     for each index, in order: if it names a row of the block: for column, a vector at a time: row += update
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/cpu/Emitters.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

class ScatterEmitter {
public:
  explicit ScatterEmitter(KernelFrame &frame)
      : frame(frame), rowDim(int(frame.source.form.outer)), vectorDim(int(frame.dims) - 1),
        indexing(frame.source.generics[0]), sum(frame.source.generics[1]),
        storage(frame.storage.lookup(sum.getResult(0))), access(frame.source.accessOf(sum, *sum.getDpsInitOperand(0))) {
    const int64_t indices = frame.source.form.indices;
    for (int dim = 0; dim < frame.dims; ++dim)
      if (dim != rowDim)
        (dim < rowDim ? outer : dim <= rowDim + indices ? index : inner).push_back(dim);
  }
  void emit();

private:
  void forColumns(llvm::function_ref<void(const Lanes &)> step);
  void clear(Emitted rowBegin, Emitted rowEnd);
  void addPart(Emitted rowBegin, Emitted rowEnd);
  Values bodyOf(linalg::GenericOp generic, Emitted accumulator, const Lanes &lanes);

  KernelFrame &frame;
  int rowDim, vectorDim;
  linalg::GenericOp indexing, sum;
  TensorStorage storage;
  TensorAccess access;
  SmallVector<int> outer, index, inner;
};

Values ScatterEmitter::bodyOf(linalg::GenericOp generic, Emitted accumulator, const Lanes &lanes) {
  Values arguments = loadInputs(frame, generic, lanes);
  arguments.push_back(accumulator);
  return emitBody(frame, generic, arguments, lanes);
}

/// All columns at the present row: whole vectors, then a masked step or scalar ones.
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

void ScatterEmitter::clear(Emitted rowBegin, Emitted rowEnd) {
  frame.loop(rowBegin, rowEnd, frame.constant(1), [&](Emitted row) {
    frame.index[rowDim] = row;
    forColumns([&](const Lanes &lanes) {
      storeLanes(frame, frame.splat(frame.initialOf(sum, 0), lanes.count), storage, access, lanes);
    });
  });
}

/// The slice of the updates at the present index, when it names a row of the block.
void ScatterEmitter::addPart(Emitted rowBegin, Emitted rowEnd) {
  const Emitted row = bodyOf(indexing, {}, {})[0];
  frame.branch((row >= rowBegin) & (row < rowEnd), [&] {
    frame.index[rowDim] = row;
    frame.storage[indexing.getResult(0)] = {{}, row.type(), row};
    forColumns([&](const Lanes &lanes) {
      const Values next = bodyOf(sum, loadLanes(frame, storage, access, lanes), lanes);
      storeLanes(frame, next[0], storage, access, lanes);
    });
  });
}

void ScatterEmitter::emit() {
  const Emitted one = frame.constant(1), rows = frame.extents[rowDim], blockRows = frame.extents[frame.dims];
  const Emitted rowBlocks = ceilDivideUnsigned(rows, blockRows), indices = frame.size(index);
  frame.loop(frame.blockBegin, frame.blockEnd, one, [&](Emitted block) {
    frame.delinearize(divideUnsigned(block, rowBlocks), outer);
    const Emitted rowBegin = remainderUnsigned(block, rowBlocks) * blockRows;
    const Emitted rowEnd = minimum(rows, rowBegin + blockRows);
    clear(rowBegin, rowEnd);
    frame.loop(frame.constant(0), indices, one, [&](Emitted at) {
      frame.delinearize(at, index);
      addPart(rowBegin, rowEnd);
    });
  });
}

} // namespace

void emitScatter(KernelFrame &frame) { ScatterEmitter(frame).emit(); }

} // namespace halftone::compiler
