// Computes the scratch addresses and the tile of a matmul block.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulBlock.h"

namespace halftone::compiler {
using namespace mlir;

MatmulBlock::MatmulBlock(const MatmulPlan &plan, KernelFrame &frame)
    : plan(plan), sizes(plan.sizes), frame(frame), tileRows(frame.extents[size_t(frame.dims)]),
      tileColumns(frame.extents[size_t(frame.dims + 1)]) {
  for (size_t role = 0; role < 4; ++role) {
    size[role] = constant(1);
    for (int dim : plan.group[role])
      size[role] = size[role] * frame.extents[size_t(dim)];
  }
  rowTiles = ceilDivide(size[rowRole], tileRows);
  columnTiles = ceilDivide(size[columnRole], tileColumns);
  sumsPitch = ceilDivide(tileColumns, constant(sizes.lanes)) * sizes.lanes;
  packedPitch = ceilDivide(tileRows + 1, constant(sizes.lanes)) * sizes.lanes;
  packedRowsAt = frame.scratch;
  watchedPanelsAt = frame.address(frame.scratch, frame.getI64Type(), constant(1));
  subnormalPanelsAt = frame.address(frame.scratch, frame.getI64Type(), constant(2));
  packedA = frame.address(packedRowsAt, frame.getI8Type(), constant(MatmulScratch::headBytes));
  packedB = plan.a == ReadA::image ? packedA : at(packedA, packedPitch * sizes.rowPitch());
  square = at(packedB, sumsPitch * sizes.depth);
  watchedAt = at(square, constant(sizes.lanes * sizes.lanes));
  sums = at(watchedAt, constant(sizes.lanes));
}

void MatmulBlock::begin(Emitted block) {
  columnTile = block % columnTiles;
  rowsOfTile = block / columnTiles;
  rowTile = rowsOfTile % rowTiles;
  batch = rowsOfTile / rowTiles;
  firstRow = rowTile * tileRows;
  firstColumn = columnTile * tileColumns;
  rows = minimum(tileRows, size[rowRole] - firstRow);
  columns = minimum(tileColumns, size[columnRole] - firstColumn);
}

std::pair<Emitted, Emitted> MatmulBlock::packedColumns(Emitted column, Emitted first) const {
  const Emitted panel = constant(sizes.columns());
  const Emitted within = column % panel, inPanel = column < wholeOf(columns, sizes.columns());
  const Emitted start = select(inPanel, column - within, column) - first;
  return {at(packedB, start * sizes.depth + select(inPanel, within, constant(0))),
          select(inPanel, panel, constant(sizes.lanes))};
}

Emitted MatmulBlock::rowsAcross(Emitted k, Emitted row) const {
  return plan.a == ReadA::packedPanels ? row * sizes.rowPitch() + k * sizes.lanes : k * packedPitch + row;
}

} // namespace halftone::compiler
