// The AMX tile registers.
// SPDX-License-Identifier: Apache-2.0
//
//   tiles 0 to 3: sums [row tile][column tile]; 4 and 5: 16 rows of A, 16 groups of each; 6 and 7: 16 groups of 16 columns
//   of B
#include "compiler/targets/cpu/x86/AmxTiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace halftone::compiler {
using namespace mlir;

static constexpr int64_t tileCount = 8, firstOfRows = 4, firstOfColumns = 6;

/// Emits an AMX instruction; `tiles` are the indices of its tiles.
static void emitInstruction(CodeBuilder &code, StringRef name, ArrayRef<int64_t> tiles, ArrayRef<Emitted> operands) {
  SmallVector<Value> arguments;
  for (int64_t tile : tiles)
    arguments.push_back(code.constant(code.getI8IntegerAttr(int8_t(tile))).value());
  llvm::append_range(arguments, plain(operands));
  LLVM::CallIntrinsicOp::create(code, code.getStringAttr("llvm.x86." + name.str()), arguments);
}

void configureTiles(CodeBuilder &code, Emitted at) {
  // Palette 1; bytes per row from byte 16 on, two for each tile; rows from byte 48 on.
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1;
  for (int64_t tile = 0; tile < tileCount; ++tile) {
    bytes[size_t(16 + 2 * tile)] = int8_t(tileSide * tileElementBytes);
    bytes[size_t(48 + tile)] = int8_t(tileSide);
  }
  const VectorType type = VectorType::get(64, code.getI8Type());
  const auto shapes = DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes));
  code.store(code.constant(cast<TypedAttr>(shapes)), at);
  emitInstruction(code, "ldtilecfg", {}, at);
}

void releaseTiles(CodeBuilder &code) { emitInstruction(code, "tilerelease", {}, {}); }

static void forSums(const TileSquare &square, llvm::function_ref<void(int64_t, const TileAddress &)> body) {
  for (auto [i, row] : llvm::enumerate(square.sums))
    for (auto [j, address] : llvm::enumerate(row))
      body(2 * int64_t(i) + int64_t(j), address);
}

void beginTiles(CodeBuilder &code, const TileSquare &square, Emitted continues) {
  code.branch(
      continues,
      [&] {
        forSums(square, [&](int64_t tile, const TileAddress &address) {
          emitInstruction(code, "tileloadd64", tile, {address.at, address.stride});
        });
      },
      [&] {
        forSums(square, [&](int64_t tile, const TileAddress &) { emitInstruction(code, "tilezero", tile, {}); });
      });
}

void multiplyTiles(CodeBuilder &code, StringRef instruction, ArrayRef<TileAddress> rows,
                   ArrayRef<TileAddress> columns) {
  const auto load = [&](int64_t tile, const TileAddress &address) {
    emitInstruction(code, "tileloadd64", tile, {address.at, address.stride});
  };
  // Each factor is loaded just before its first product, so products overlap with loads.
  for (int64_t i = 0; i < int64_t(rows.size()); ++i) {
    load(firstOfRows + i, rows[size_t(i)]);
    for (int64_t j = 0; j < int64_t(columns.size()); ++j) {
      if (i == 0)
        load(firstOfColumns + j, columns[size_t(j)]);
      emitInstruction(code, instruction, {2 * i + j, firstOfRows + i, firstOfColumns + j}, {});
    }
  }
}

void storeTiles(CodeBuilder &code, const TileSquare &square) {
  forSums(square, [&](int64_t tile, const TileAddress &address) {
    emitInstruction(code, "tilestored64", tile, {address.at, address.stride});
  });
}

void forTilePairs(CodeBuilder &code, Emitted count, llvm::function_ref<void(Emitted, int64_t)> body) {
  const Emitted one = code.constant(tileSide), two = code.constant(2 * tileSide);
  const Emitted paired = count / two * two;
  // Of fewer than 32 elements after the pairs, more than 16 take two tiles too.
  const Emitted hasPair = count - paired > one, pairs = select(hasPair, paired + two, paired);
  code.loop(code.constant(0), pairs, two, [&](Emitted at) { body(at, 2); });
  code.loop(pairs, count, one, [&](Emitted at) { body(at, 1); });
}

} // namespace halftone::compiler
