// The position of a block's tile in a product.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/MatmulCta.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

Emitted joined(CodeBuilder &builder, ArrayRef<Emitted> scalars) {
  Value vector = ub::PoisonOp::create(builder, VectorType::get(int64_t(scalars.size()), scalars[0].type()));
  for (auto [index, scalar] : llvm::enumerate(scalars))
    vector = vector::InsertOp::create(builder, scalar.value(), vector, int64_t(index));
  return builder.wrap(vector);
}

Emitted laneOf(CodeBuilder &builder, Emitted vector, int64_t lane) {
  return builder.wrap(vector::ExtractOp::create(builder, vector.value(), lane));
}

MatmulCta::MatmulCta(const MatmulSource &source, const BlockTile &block, const MatmulTiling &tiling, GridFrame &frame)
    : source(source), tile(block.sizes), divisors(block.divisors), tiling(tiling), frame(frame) {
  for (size_t role = 0; role < 4; ++role)
    size[role] = frame.size(source.group[role]);
  const Emitted rowTiles = ceilDivideUnsigned(size[rowRole], constant(tile.m));
  columnTiles = ceilDivideUnsigned(size[columnRole], constant(tile.n));
  columnTile = remainderUnsigned(frame.block, columnTiles);
  rowTileIndex = divideUnsigned(frame.block, columnTiles);
  moveTo(batchRole, divideUnsigned(rowTileIndex, rowTiles));
  firstRow = remainderUnsigned(rowTileIndex, rowTiles) * tile.m;
  firstColumn = columnTile * tile.n;
  rows = minimum(constant(tile.m), size[rowRole] - firstRow);
  columns = minimum(constant(tile.n), size[columnRole] - firstColumn);
}

bool MatmulCta::isMultiple(int dim, int64_t count) const { return dim >= 0 && divisors[size_t(dim)] % count == 0; }

} // namespace halftone::compiler
