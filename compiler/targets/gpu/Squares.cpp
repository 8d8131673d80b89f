// Transposition of loop operands through shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/Squares.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

Squares::Squares(GridFrame &frame, linalg::GenericOp generic)
    : frame(frame), columnDim(int(frame.dims) - 1), outer(llvm::to_vector(llvm::seq<int>(0, int(frame.dims) - 1))) {
  if (llvm::any_of(combinersOf(generic), [](const std::string &name) { return !name.empty(); }))
    return; // partial reductions iterate over the block in another order
  for (auto [position, operand] : llvm::enumerate(generic.getDpsInputOperands())) {
    const TensorAccess access = frame.source.accessOf(generic, *operand);
    const bool isTransposed = columnDim > 0 && access.dims.size() >= 2 && access.dims.back() == columnDim - 1 &&
                              llvm::is_contained(access.dims, columnDim);
    if (!isTransposed || generic.getMatchingBlockArgument(operand).use_empty())
      continue;
    Square square{unsigned(position), frame.storage.lookup(operand->get()), access, {}};
    square.memory = frame.shared(side * square.pitch() * elementBytes(square.storage.element));
    squares.push_back(square);
  }
}

/// The address of the element `lane` columns after `column`, in the vector that begins at `column`.
Emitted Squares::addressOf(const Square &square, Emitted row, Emitted column, int64_t lane) const {
  // Adjacent threads read vectors one element at a time, so the elements in every second 128 bytes of a row would be in
  // the same banks as those of the preceding 128 bytes. There, adjacent units of 8 bytes are swapped.
  constexpr int64_t banksBytes = 128, swizzledBytes = 8;
  const int64_t bytes = elementBytes(square.storage.element), unit = std::max<int64_t>(1, swizzledBytes / bytes);
  const Emitted first = column - columns.begin;
  Emitted position = first;
  if (side * bytes > banksBytes) {
    const Emitted swizzle = (divideUnsigned(first, first.like(banksBytes / bytes)) & 1) * unit;
    position = (first + lane / unit * unit) ^ swizzle;
    lane %= unit;
  }
  return frame.address(square.memory, square.storage.element, (row - rows.begin) * square.pitch() + position + lane);
}

void Squares::load(Span theRows, Span theColumns) {
  rows = theRows;
  columns = theColumns;
  frame.barrier(); // the previous squares have been read
  const ThreadTile tile(frame, rows.end - rows.begin, 1);
  tile.eachRow(columns, [&](Emitted column) {
    tile.eachStep(rows, [&](Emitted row) {
      frame.delinearize(row, outer);
      frame.index[columnDim] = column;
      for (const Square &square : squares) {
        const Emitted element = loadLanes(frame, square.storage, square.access, {});
        frame.store(element, addressOf(square, row, column, 0));
      }
    });
  });
  frame.barrier();
}

Emitted Squares::read(unsigned position, Emitted row, const Lanes &lanes) const {
  const Square *square = llvm::find_if(squares, [&](const Square &each) { return each.position == position; });
  if (square == squares.end())
    return {};
  const Emitted column = frame.index[columnDim];
  const auto elementAt = [&](int64_t lane) {
    return frame.load(square->storage.element, addressOf(*square, row, column, lane));
  };
  if (lanes.count == 0)
    return elementAt(0);
  Value vector = frame.zero(VectorType::get(lanes.count, square->storage.element));
  for (int64_t lane = 0; lane < lanes.count; ++lane)
    vector = vector::InsertOp::create(frame, elementAt(lane).value(), vector, lane);
  return frame.wrap(vector);
}

} // namespace halftone::compiler
