// Transposed operands of loops, turned through shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/Squares.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

Squares::Squares(GridFrame &frame, linalg::GenericOp generic)
    : frame(frame), columnDim(int(frame.dims) - 1), outer(llvm::to_vector(llvm::seq<int>(0, int(frame.dims) - 1))) {
  if (llvm::any_of(combinersOf(generic), [](const std::string &name) { return !name.empty(); }))
    return; // side reductions go through the block in another order
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

Emitted Squares::addressOf(const Square &square, Emitted row, Emitted column) const {
  const Emitted place = (row - rows.begin) * square.pitch() + (column - columns.begin);
  return frame.address(square.memory, square.storage.element, place);
}

void Squares::load(Span theRows, Span theColumns) {
  rows = theRows;
  columns = theColumns;
  frame.barrier(); // the squares before have been read
  const ThreadTile tile(frame, rows.end - rows.begin, 1);
  tile.eachRow(columns, [&](Emitted column) {
    tile.eachStep(rows, [&](Emitted row) {
      frame.delinearize(row, outer);
      frame.index[columnDim] = column;
      for (const Square &square : squares) {
        const Emitted element = loadLanes(frame, square.storage, square.access, {});
        frame.store(element, addressOf(square, row, column));
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
    return frame.load(square->storage.element, addressOf(*square, row, lane == 0 ? column : column + lane));
  };
  if (lanes.count == 0)
    return elementAt(0);
  Value vector = frame.zero(VectorType::get(lanes.count, square->storage.element));
  for (int64_t lane = 0; lane < lanes.count; ++lane)
    vector = vector::InsertOp::create(frame, elementAt(lane).value(), vector, lane);
  return frame.wrap(vector);
}

} // namespace halftone::compiler
