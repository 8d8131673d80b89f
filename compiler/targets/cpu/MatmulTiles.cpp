// Products by AMX: tiles of 16 x 16 sums, two by two, over the operands packed in groups.
// SPDX-License-Identifier: Apache-2.0
//
//   tiles 0 to 3: sums [row tile][column tile]; 4 and 5: 16 rows of A, 16 groups of each; 6 and 7: 16 groups of 16
//   columns of B for pairs of column tiles, for pairs of row tiles:
//     sums of earlier parts of K, or 0; for 16 groups: load the factors, four products; store
//
// Every tile is whole, and one configuration serves all: rows and columns past the block's end are there in scratch,
// where nobody reads their sums, and groups past K are packed as 0. B that is kept in panels is read where it is; of its
// last groups, if they are no whole 16, scratch has a copy with zeros behind them.
#include "compiler/targets/cpu/MatmulTiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace halftone::compiler {
using namespace mlir;

static constexpr int64_t tileCount = 8, elementSize = 4;          // bytes
static constexpr int64_t factorsOfRows = 4, factorsOfColumns = 6; // the first tile of each

void MatmulTiles::instruction(StringRef what, ArrayRef<int64_t> tiles, ArrayRef<Emitted> operands) const {
  SmallVector<Value> arguments;
  for (int64_t tile : tiles)
    arguments.push_back(frame.constant(frame.getI8IntegerAttr(int8_t(tile))).value());
  llvm::append_range(arguments, plain(operands));
  LLVM::CallIntrinsicOp::create(frame, frame.getStringAttr("llvm.x86." + what.str()), arguments);
}

void MatmulTiles::configure() const {
  // Palette 1; bytes a row from byte 16, two for each tile; rows from byte 48.
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1;
  for (int64_t tile = 0; tile < tileCount; ++tile) {
    bytes[size_t(16 + 2 * tile)] = int8_t(lanes * elementSize);
    bytes[size_t(48 + tile)] = int8_t(lanes);
  }
  const VectorType type = VectorType::get(64, frame.getI8Type());
  const auto shapes = DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes));
  block.store(frame.constant(cast<TypedAttr>(shapes)), block.square);
  instruction("ldtilecfg", {}, block.square);
}

void MatmulTiles::release() const { instruction("tilerelease", {}, {}); }

void MatmulTiles::inPairs(Emitted count, llvm::function_ref<void(Emitted, int64_t)> body) const {
  const Emitted all = ceilDivide(count, frame.constant(lanes)), paired = block.wholeOf(all, 2);
  frame.loop(frame.constant(0), paired * lanes, frame.constant(2 * lanes), [&](Emitted at) { body(at, 2); });
  frame.loop(paired * lanes, all * lanes, frame.constant(lanes), [&](Emitted at) { body(at, 1); });
}

void MatmulTiles::multiply(const MatmulDepth &depth) const {
  inPairs(block.columns, [&](Emitted column, int64_t across) {
    Sums sums{{}, column, 0, {}};
    for (int64_t place = 0; place < across; ++place)
      sums.columns.push_back(columnsAt(column + place * lanes, place, depth));
    inPairs(block.rows, [&](Emitted row, int64_t down) {
      sums.row = row, sums.down = down;
      multiplySums(sums, depth);
    });
  });
}

MatmulTiles::Columns MatmulTiles::columnsAt(Emitted column, int64_t place, const MatmulDepth &depth) const {
  if (!block.problem.panels) {
    const auto [at, pitch] = packing.packedColumns(column, frame.constant(0));
    return {at, pitch, {}};
  }
  const Emitted pitch = frame.constant(lanes), at = block.at(factors.panelAt(column), depth.first * lanes);
  const Emitted whole = block.wholeOf(depth.count, lanes),
                tail = block.at(block.packedB, frame.constant(place * lanes * lanes));
  const auto copied = [&](Emitted k) { return block.at(tail, (k - whole) * lanes); };
  frame.loop(whole, depth.count, frame.constant(1),
             [&](Emitted k) { block.store(block.load(block.at(at, k * lanes)), copied(k)); });
  frame.loop(depth.count, whole + lanes, frame.constant(1), [&](Emitted k) { block.store(block.zeros(), copied(k)); });
  return {at, pitch, tail};
}

void MatmulTiles::forTiles(const Sums &sums, llvm::function_ref<void(int64_t, Emitted)> body) const {
  for (int64_t i = 0; i < sums.down; ++i)
    for (int64_t j = 0; j < sums.across(); ++j)
      body(2 * i + j, block.at(block.sums, (sums.row + i * lanes) * block.sumsPitch + sums.column + j * lanes));
}

void MatmulTiles::multiplyGroups(const Sums &sums, Emitted k, bool ofTail) const {
  const Emitted rowStride = frame.constant(block.sizes.depth * elementSize);
  for (int64_t i = 0; i < sums.down; ++i) {
    const Emitted fromA = block.at(block.packedA, (sums.row + i * lanes) * block.sizes.depth + k);
    instruction("tileloadd64", factorsOfRows + i, {fromA, rowStride});
  }
  for (auto [j, columns] : llvm::enumerate(sums.columns)) {
    const Emitted at = ofTail ? columns.tail : block.at(columns.at, k * columns.pitch);
    instruction("tileloadd64", factorsOfColumns + int64_t(j), {at, columns.pitch * elementSize});
  }
  for (int64_t i = 0; i < sums.down; ++i)
    for (int64_t j = 0; j < sums.across(); ++j)
      instruction(name(block.problem.instruction), {2 * i + j, factorsOfRows + i, factorsOfColumns + j}, {});
}

void MatmulTiles::multiplySums(const Sums &sums, const MatmulDepth &depth) const {
  const Emitted sumsStride = block.sumsPitch * elementSize;
  frame.branch(
      depth.first > frame.constant(0),
      [&] { forTiles(sums, [&](int64_t tile, Emitted at) { instruction("tileloadd64", tile, {at, sumsStride}); }); },
      [&] { forTiles(sums, [&](int64_t tile, Emitted) { instruction("tilezero", tile, {}); }); });
  const bool hasTail = bool(sums.columns[0].tail);
  const Emitted end = hasTail ? block.wholeOf(depth.count, lanes) : depth.count;
  frame.loop(frame.constant(0), end, frame.constant(lanes), [&](Emitted k) { multiplyGroups(sums, k, false); });
  if (hasTail)
    frame.branch(end < depth.count, [&] { multiplyGroups(sums, end, true); });
  forTiles(sums, [&](int64_t tile, Emitted at) { instruction("tilestored64", tile, {at, sumsStride}); });
}

} // namespace halftone::compiler
