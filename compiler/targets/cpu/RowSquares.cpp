// Transposition of operands in squares, through scratch.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/RowSquares.h"
#include "compiler/targets/cpu/Emitters.h"

namespace halftone::compiler {
using namespace mlir;

RowSquares::RowSquares(RowPlan &plan, RowVectors &vectors)
    : frame(plan.frame), plan(plan), vectors(vectors), vectorDim(int(frame.dims) - 1) {
  const RowPlan::Phase &phase = plan.phases.front();
  const SmallVector<int> &outer = plan.outer;
  bool isElementwise =
      llvm::all_of(phase.outputs, [](const RowPlan::Output &output) { return output.combiner.empty(); });
  if (plan.phases.size() != 1 || !isElementwise || outer.empty() || frame.lanes < 4)
    return;
  for (auto [position, access] : llvm::enumerate(phase.inputAccesses))
    if (!access.dims.empty() && access.dims.back() == outer.back() && llvm::is_contained(access.dims, vectorDim))
      transposed.push_back(position);
}

void RowSquares::emit(Emitted rowBegin, Emitted rowEnd, const RowPlan::Columns &columns,
                      llvm::function_ref<void(const RowPlan::Columns &)> emitRow) {
  const Emitted side = frame.constant(frame.lanes), one = frame.constant(1);
  frame.loop(rowBegin, rowEnd, side, [&](Emitted row) {
    frame.delinearize(row, plan.outer);
    const int lastOuter = plan.outer.back();
    const Emitted end = row + side;
    const Emitted fits = (end <= rowEnd) & (frame.index[lastOuter] + side <= frame.extents[lastOuter]);
    frame.branch(
        fits, [&] { emitSquare(columns, emitRow); },
        [&] {
          frame.loop(row, minimum(end, rowEnd), one, [&](Emitted single) {
            frame.delinearize(single, plan.outer);
            emitRow(columns);
          });
        });
  });
}

/// The address of row `row` in the square of the `index`-th transposed input.
Emitted RowSquares::squareRow(unsigned index, Type element, Emitted row) {
  const Emitted offset = frame.constant(int64_t(index) * transposedSquareBytes);
  return frame.address(frame.address(frame.scratch, frame.getI8Type(), offset), element, row * frame.lanes);
}

void RowSquares::emitSquare(const RowPlan::Columns &columns,
                            llvm::function_ref<void(const RowPlan::Columns &)> emitRow) {
  const int lastOuter = plan.outer.back();
  const Emitted first = frame.index[lastOuter], side = frame.constant(frame.lanes), begin = columns.begin;
  const Emitted wholeEnd = begin + divideUnsigned(columns.end - begin, side) * side;
  frame.loop(begin, wholeEnd, side, [&](Emitted column) { emitSquareColumns(first, column); });
  frame.loop(frame.constant(0), side, frame.constant(1), [&](Emitted row) {
    frame.index[lastOuter] = first + row;
    emitRow({wholeEnd, columns.end});
  });
}

/// Emits one square: transposes the inputs through scratch, then processes its rows from `first` on.
void RowSquares::emitSquareColumns(Emitted first, Emitted column) {
  constexpr int64_t unaligned = 1;
  RowPlan::Phase &phase = plan.phases.front();
  const int lastOuter = plan.outer.back();
  const auto storageOf = [&](unsigned input) { return frame.storage.lookup(phase.generic.getDpsInputs()[input]); };
  for (auto [index, input] : llvm::enumerate(transposed)) {
    Values lines;
    frame.index[lastOuter] = first;
    for (int64_t lane = 0; lane < frame.lanes; ++lane) {
      frame.index[vectorDim] = column + lane;
      lines.push_back(loadLanes(frame, storageOf(input), phase.inputAccesses[input], {frame.lanes, lastOuter}));
    }
    for (auto [row, vector] : llvm::enumerate(frame.transpose(lines)))
      frame.store(vector, squareRow(unsigned(index), storageOf(input).element, frame.constant(int64_t(row))),
                  unaligned);
  }
  frame.loop(frame.constant(0), frame.constant(frame.lanes), frame.constant(1), [&](Emitted row) {
    frame.index[lastOuter] = first + row;
    frame.index[vectorDim] = column;
    for (auto [index, input] : llvm::enumerate(transposed)) {
      const Type element = storageOf(input).element;
      vectors.loadedInputs[input] =
          frame.load(VectorType::get(frame.lanes, element), squareRow(unsigned(index), element, row), unaligned);
    }
    vectors.emitStep(phase, {}, {frame.lanes, vectorDim});
    vectors.loadedInputs.clear();
  });
}

} // namespace halftone::compiler
