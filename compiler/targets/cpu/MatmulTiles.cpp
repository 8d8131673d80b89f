// Products by AMX: tiles of 16 x 16 sums, two by two, over the operands packed in groups.
// SPDX-License-Identifier: Apache-2.0
//
//   tiles 0 to 3: sums [row tile][column tile]; 4 and 5: 16 rows of A, 16 groups of each; 6 and 7: 16 groups of 16
//   columns of B for pairs of column tiles, for pairs of row tiles:
//     sums of earlier parts of K, or 0; for 16 groups: load the factors, four products; store
//
// Every tile is whole, and one configuration serves all: rows and columns past the block's end are there in scratch,
// where nobody reads their sums, and groups past K are packed as 0.
#include "compiler/targets/cpu/Matmul.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

constexpr int64_t tiles = 8, elementBytes = 4;
constexpr int64_t factorsOfRows = 4, factorsOfColumns = 6; // the first tile of each

} // namespace

void MatmulEmitter::tileInstruction(StringRef what, ArrayRef<int64_t> numbers, ArrayRef<Emitted> operands) {
  SmallVector<Value> arguments;
  for (int64_t tile : numbers)
    arguments.push_back(arith::ConstantOp::create(b, b.getI8IntegerAttr(int8_t(tile))));
  for (const Emitted &operand : operands)
    arguments.push_back(operand.value());
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86." + what.str()), arguments);
}

void MatmulEmitter::configureTiles() {
  // Palette 1; bytes a row from byte 16, two for each tile; rows from byte 48.
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    bytes[size_t(16 + 2 * tile)] = int8_t(sizes->lanes * elementBytes);
    bytes[size_t(48 + tile)] = int8_t(sizes->lanes);
  }
  const VectorType type = VectorType::get(64, b.getI8Type());
  storeValue(arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes))), square, true);
  tileInstruction("ldtilecfg", {}, square);
}

void MatmulEmitter::releaseTiles() { tileInstruction("tilerelease", {}, {}); }

LogicalResult MatmulEmitter::packRowsTurned(Emitted firstDepth, Emitted depth) {
  packingLoop(number(0), rows, number(sizes->lanes), [&](Emitted row) {
    packingLoop(number(0), depth, number(sizes->lanes), [&](Emitted k) {
      loop(number(0), number(sizes->lanes), number(1), [&](Emitted member) {
        MatmulPlace place;
        moveTo(place, batchRole, batch);
        setLanes(place, rowRole, firstRow, row, rows);
        const FailureOr<Value> lanes = groupsAcross(0, place, firstDepth + k + member);
        if (failed(sticky(lanes)))
          return;
        const Emitted there = wrap(*lanes), isWithin = k + member < depth;
        storeValue(select(isWithin, there, there.like(int64_t(0))).value(),
                   address(square, accumulator, member * sizes->lanes), true);
      });
      Lanes turned;
      for (int64_t member = 0; member < sizes->lanes; ++member)
        turned.push_back(
            loadValue(lanesOf(accumulator), address(square, accumulator, number(member * sizes->lanes)), true));
      turned = transpose(turned);
      for (int64_t lane = 0; lane < sizes->lanes; ++lane)
        storePacked(turned[size_t(lane)], address(packedA, accumulator, (row + lane) * sizes->depth + k));
    });
  });
  return failure(broken);
}

void MatmulEmitter::packZerosPastDepth(Emitted depth) {
  const Value zero = splat(arith::ConstantOp::create(b, b.getZeroAttr(accumulator)));
  const Emitted end = ceilDivide(depth, number(sizes->lanes)) * sizes->lanes;
  loop(number(0), columns, number(sizes->lanes), [&](Emitted column) {
    const auto [start, pitch] = packedColumns(column, number(0));
    loop(depth, end, number(1), [&](Emitted k) { storeValue(zero, address(start, accumulator, k * pitch), true); });
  });
}

void MatmulEmitter::emitTiles(Emitted firstDepth, Emitted depth) {
  const auto inPairs = [&](Emitted count, const std::function<void(Emitted, int64_t)> &body) {
    const Emitted all = ceilDivide(count, number(sizes->lanes)), paired = all / number(2) * 2;
    loop(number(0), paired * sizes->lanes, number(2 * sizes->lanes), [&](Emitted at) { body(at, 2); });
    loop(paired * sizes->lanes, all * sizes->lanes, number(sizes->lanes), [&](Emitted at) { body(at, 1); });
  };
  inPairs(columns, [&](Emitted column, int64_t across) {
    inPairs(rows, [&](Emitted row, int64_t down) { emitTileKernel(row, down, column, across, firstDepth, depth); });
  });
}

void MatmulEmitter::emitTileKernel(Emitted row, int64_t down, Emitted column, int64_t across, Emitted firstDepth,
                                   Emitted depth) {
  const auto forSums = [&](const std::function<void(int64_t tile, int64_t i, int64_t j)> &body) {
    for (int64_t i = 0; i < down; ++i)
      for (int64_t j = 0; j < across; ++j)
        body(2 * i + j, i, j);
  };
  const auto sumsOf = [&](int64_t i, int64_t j) {
    return address(sumsAt, accumulator, (row + i * sizes->lanes) * sumsPitch + column + j * sizes->lanes);
  };
  const Emitted sumsStride = sumsPitch * elementBytes;
  auto branch = scf::IfOp::create(b, (firstDepth > number(0)).value(), true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    forSums(
        [&](int64_t tile, int64_t i, int64_t j) { tileInstruction("tileloadd64", tile, {sumsOf(i, j), sumsStride}); });
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    forSums([&](int64_t tile, int64_t, int64_t) { tileInstruction("tilezero", tile, {}); });
  }
  SmallVector<std::pair<Emitted, Emitted>> fromB;
  for (int64_t j = 0; j < across; ++j)
    fromB.push_back(packedColumns(column + j * sizes->lanes, number(0)));
  loop(number(0), depth, number(sizes->lanes), [&](Emitted k) {
    for (int64_t i = 0; i < down; ++i)
      tileInstruction("tileloadd64", factorsOfRows + i,
                      {address(packedA, accumulator, (row + i * sizes->lanes) * sizes->depth + k),
                       number(sizes->depth * elementBytes)});
    for (int64_t j = 0; j < across; ++j) {
      const auto &[start, pitch] = fromB[size_t(j)];
      tileInstruction("tileloadd64", factorsOfColumns + j,
                      {address(start, accumulator, k * pitch), pitch * elementBytes});
    }
    forSums([&](int64_t tile, int64_t i, int64_t j) {
      tileInstruction(name(instruction), {tile, factorsOfRows + i, factorsOfColumns + j}, {});
    });
  });
  forSums(
      [&](int64_t tile, int64_t i, int64_t j) { tileInstruction("tilestored64", tile, {sumsOf(i, j), sumsStride}); });
}
