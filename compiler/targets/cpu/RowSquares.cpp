// Loops with operands that are transposed, contiguous along rows: squares of as many rows as a vector has lanes.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/Row.h"

namespace halftone::compiler {
using namespace mlir;

SmallVector<unsigned> RowEmitter::transposedInputs(const Phase &phase) {
  SmallVector<unsigned> inputs;
  bool isElementwise = llvm::all_of(phase.outputs, [](const Output &output) { return output.combiner.empty(); });
  if (phases.size() != 1 || !isElementwise || outer.empty() || frame.lanes < 4)
    return inputs;
  for (auto [position, access] : llvm::enumerate(phase.inputAccesses))
    if (!access.dims.empty() && access.dims.back() == outer.back() && llvm::is_contained(access.dims, vectorDim))
      inputs.push_back(position);
  return inputs;
}

/// As many rows at a time as a vector has lanes, where they are neighbours in the transposed operands.
void RowEmitter::emitSquares(Emitted rowBegin, Emitted rowEnd, ArrayRef<unsigned> transposed) {
  const Emitted side = frame.constant(frame.lanes), one = frame.constant(1);
  frame.loop(rowBegin, rowEnd, side, [&](Emitted row) {
    frame.delinearize(row, outer);
    const int lastOuter = outer.back();
    const Emitted end = row + side;
    const Emitted fits = (end <= rowEnd) & (frame.index[lastOuter] + side <= frame.extents[lastOuter]);
    frame.branch(
        fits, [&] { emitSquare(transposed); },
        [&] {
          frame.loop(row, minimum(end, rowEnd), one, [&](Emitted single) {
            frame.delinearize(single, outer);
            emitRow();
          });
        });
  });
}

/// Row `row` of the square of the transposed input at this position.
Emitted RowEmitter::squareRow(unsigned place, Type element, Emitted row) {
  const Emitted offset = frame.constant(int64_t(place) * transposedSquareBytes);
  return frame.address(frame.address(frame.scratch, frame.getI8Type(), offset), element, row * frame.lanes);
}

void RowEmitter::emitSquare(ArrayRef<unsigned> transposed) {
  const int lastOuter = outer.back();
  const Emitted first = frame.index[lastOuter], side = frame.constant(frame.lanes), begin = columnBegin;
  const Emitted wholeEnd = begin + divideUnsigned(columnEnd - begin, side) * side;
  frame.loop(begin, wholeEnd, side, [&](Emitted column) { emitSquareColumns(transposed, first, column); });
  columnBegin = wholeEnd;
  frame.loop(frame.constant(0), side, frame.constant(1), [&](Emitted row) {
    frame.index[lastOuter] = first + row;
    emitRow();
  });
  columnBegin = begin;
}

/// One square: the transposed inputs are turned through scratch, then the phase goes along its rows from `first` on.
void RowEmitter::emitSquareColumns(ArrayRef<unsigned> transposed, Emitted first, Emitted column) {
  constexpr int64_t unaligned = 1;
  Phase &phase = phases.front();
  const int lastOuter = outer.back();
  const auto homeOf = [&](unsigned input) { return frame.storage.lookup(phase.generic.getDpsInputs()[input]); };
  for (auto [place, input] : llvm::enumerate(transposed)) {
    Values vectors;
    frame.index[lastOuter] = first;
    for (int64_t lane = 0; lane < frame.lanes; ++lane) {
      frame.index[vectorDim] = column + lane;
      vectors.push_back(loadLanes(frame, homeOf(input), phase.inputAccesses[input], {frame.lanes, lastOuter}));
    }
    for (auto [row, vector] : llvm::enumerate(frame.transpose(vectors)))
      frame.store(vector, squareRow(unsigned(place), homeOf(input).element, frame.constant(int64_t(row))), unaligned);
  }
  frame.loop(frame.constant(0), frame.constant(frame.lanes), frame.constant(1), [&](Emitted row) {
    frame.index[lastOuter] = first + row;
    frame.index[vectorDim] = column;
    for (auto [place, input] : llvm::enumerate(transposed)) {
      const Type element = homeOf(input).element;
      atHand[input] =
          frame.load(VectorType::get(frame.lanes, element), squareRow(unsigned(place), element, row), unaligned);
    }
    emitStep(phase, {}, {frame.lanes, vectorDim});
    atHand.clear();
  });
}

} // namespace halftone::compiler
