// The AMX tile registers, 16 rows of 64 bytes each, for all products that use tiles.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"

namespace halftone::compiler {

/// The number of rows of a tile, and of 32-bit elements in a row: sums, or groups of neighbours along K.
inline constexpr int64_t tileSide = 16;
inline constexpr int64_t tileElementBytes = 4;

/// A tile in memory: its address, and the distance between rows in bytes.
struct TileAddress {
  Emitted at, stride;
};
/// Up to 2 x 2 tiles of sums that are accumulated together.
struct TileSquare {
  llvm::SmallVector<llvm::SmallVector<TileAddress, 2>, 2> sums; // by row
};

/// Configures all tiles with their full size. `at`: 64 bytes of scratch. The thread owns the tiles until
/// releaseTiles().
void configureTiles(CodeBuilder &code, Emitted at);
void releaseTiles(CodeBuilder &code);

/// Loads the sums of `square` from memory if `continues`, otherwise sets them to 0.
void beginTiles(CodeBuilder &code, const TileSquare &square, Emitted continues);
/// Adds the products of 16 groups with `instruction`: `rows` of A by `columns` of B, as many as the square has.
void multiplyTiles(CodeBuilder &code, llvm::StringRef instruction, llvm::ArrayRef<TileAddress> rows,
                   llvm::ArrayRef<TileAddress> columns);
void storeTiles(CodeBuilder &code, const TileSquare &square);

/// Emits `body` for each two tiles, and for a last single one, that hold `count` elements. `body` gets the first
/// element and the number of tiles.
void forTilePairs(CodeBuilder &code, Emitted count, llvm::function_ref<void(Emitted, int64_t)> body);

} // namespace halftone::compiler
