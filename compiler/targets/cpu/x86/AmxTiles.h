// The tile registers of AMX, 16 rows of 64 bytes each, as all products by tiles use them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"

namespace halftone::compiler {

/// Rows of a tile, and 32-bit elements of a row: sums, or groups of neighbours along K.
inline constexpr int64_t tileSide = 16;
inline constexpr int64_t tileElementBytes = 4;

/// A tile in memory: where it begins, and the bytes between its rows.
struct TilePlace {
  Emitted at, stride;
};
/// Up to 2 x 2 tiles of sums that are made together.
struct TileSquare {
  llvm::SmallVector<llvm::SmallVector<TilePlace, 2>, 2> sums; // rows of them
};

/// All tiles have their whole size. `at`: 64 bytes of scratch. The thread has these tiles until releaseTiles().
void configureTiles(CodeBuilder &code, Emitted at);
void releaseTiles(CodeBuilder &code);

/// The sums of `square` become those in memory if `continues`, else 0.
void beginTiles(CodeBuilder &code, const TileSquare &square, Emitted continues);
/// Adds the products of 16 groups by `instruction`: `rows` of A, `columns` of B, as many as the square has.
void multiplyTiles(CodeBuilder &code, llvm::StringRef instruction, llvm::ArrayRef<TilePlace> rows,
                   llvm::ArrayRef<TilePlace> columns);
void storeTiles(CodeBuilder &code, const TileSquare &square);

/// Two tiles at a time, and the last one alone, of as many as hold `count` elements: `body` gets the first element and how
/// many tiles there are.
void forTilePairs(CodeBuilder &code, Emitted count, llvm::function_ref<void(Emitted, int64_t)> body);

} // namespace halftone::compiler
