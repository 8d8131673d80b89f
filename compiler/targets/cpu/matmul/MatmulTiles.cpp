// Matrix products with AMX: two by two tiles of 16 x 16 sums, over operands packed in groups.
// SPDX-License-Identifier: Apache-2.0
//
//   for pairs of column tiles, for pairs of row tiles:
//     sums of earlier slices of K, or 0; for 16 groups: load the factors, four products; store
//
// All tiles are full, so one configuration serves all of them. Scratch has space for rows and columns past the end of
// the block, whose sums are not read, and groups past K are packed as 0. B in panels is read in place; if its last
// groups are fewer than 16, a copy in scratch is padded with zeros.
#include "compiler/targets/cpu/matmul/MatmulTiles.h"

namespace halftone::compiler {
using namespace mlir;

void MatmulTiles::multiply(const MatmulDepth &depth) const {
  forTilePairs(frame, block.columns, [&](Emitted column, int64_t across) {
    SmallVector<Columns, 2> columns;
    for (int64_t index = 0; index < across; ++index)
      columns.push_back(columnsAt(column + index * lanes, index, depth));
    forTilePairs(frame, block.rows,
                 [&](Emitted row, int64_t down) { multiplySums(row, down, column, columns, depth); });
  });
}

MatmulTiles::Columns MatmulTiles::columnsAt(Emitted column, int64_t index, const MatmulDepth &depth) const {
  if (!block.plan.panels) {
    const auto [at, pitch] = block.packedColumns(column, frame.constant(0));
    return {at, pitch, {}};
  }
  const Emitted pitch = frame.constant(lanes), at = block.at(factors.panelAt(column), depth.first * lanes);
  const Emitted whole = block.wholeOf(depth.count, lanes),
                tail = block.at(block.packedB, frame.constant(index * lanes * lanes));
  const auto copied = [&](Emitted k) { return block.at(tail, (k - whole) * lanes); };
  frame.loop(whole, depth.count, frame.constant(1),
             [&](Emitted k) { block.store(block.load(block.at(at, k * lanes)), copied(k)); });
  frame.loop(depth.count, whole + lanes, frame.constant(1), [&](Emitted k) { block.store(block.zeros(), copied(k)); });
  return {at, pitch, tail};
}

void MatmulTiles::multiplySums(Emitted row, int64_t down, Emitted column, ArrayRef<Columns> columns,
                               const MatmulDepth &depth) const {
  const Emitted sumsStride = block.sumsPitch * tileElementBytes,
                rowStride = frame.constant(block.sizes.rowPitch() * tileElementBytes);
  TileSquare square;
  for (int64_t i = 0; i < down; ++i) {
    square.sums.emplace_back();
    for (int64_t j = 0; j < int64_t(columns.size()); ++j) {
      const Emitted offset = (row + i * lanes) * block.sumsPitch + column + j * lanes;
      square.sums.back().push_back({block.at(block.sums, offset), sumsStride});
    }
  }
  const auto multiplyGroups = [&](Emitted k, bool ofTail) {
    SmallVector<TileAddress> fromA, fromB;
    for (int64_t i = 0; i < down; ++i)
      fromA.push_back({block.at(block.packedA, (row + i * lanes) * block.sizes.rowPitch() + k), rowStride});
    for (const Columns &each : columns)
      fromB.push_back({ofTail ? each.tail : block.at(each.at, k * each.pitch), each.pitch * tileElementBytes});
    multiplyTiles(frame, reportName(block.plan.product->product), fromA, fromB);
  };
  beginTiles(frame, square, depth.first > frame.constant(0));
  const bool hasTail = bool(columns[0].tail);
  const Emitted end = hasTail ? block.wholeOf(depth.count, lanes) : depth.count;
  frame.loop(frame.constant(0), end, frame.constant(lanes), [&](Emitted k) { multiplyGroups(k, false); });
  if (hasTail)
    frame.branch(end < depth.count, [&] { multiplyGroups(end, true); });
  storeTiles(frame, square);
}

} // namespace halftone::compiler
