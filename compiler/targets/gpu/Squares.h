// Transposition of loop operands through shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/ThreadTile.h"

namespace halftone::compiler {

/// The inputs of a loop's generic that are contiguous along its last row dim. A square of each is loaded along that
/// dim, so that the threads of a warp read adjacent elements, and kept in shared memory for steps along the columns.
class Squares {
public:
  static constexpr int64_t side = 64;

  Squares(GridFrame &frame, mlir::linalg::GenericOp generic);

  bool isEmpty() const { return squares.empty(); }
  /// Loads at most `side` rows and columns. All threads must take part; the function has barriers.
  void load(Span rows, Span columns);
  /// The elements of input `position` at the current column and at `row`, both inside the last loaded squares; null for
  /// an input without a square.
  Emitted read(unsigned position, Emitted row, const Lanes &lanes) const;

private:
  struct Square {
    unsigned position; // among the inputs
    TensorStorage storage;
    TensorAccess access;
    Emitted memory;
    /// Elements between rows: an odd number of 4-byte words, so adjacent elements of a column are in different banks.
    int64_t pitch() const { return side + std::max<int64_t>(1, 4 / elementBytes(storage.element)); }
  };
  Emitted addressOf(const Square &square, Emitted row, Emitted column, int64_t lane) const;

  GridFrame &frame;
  int columnDim;
  llvm::SmallVector<int> outer;
  llvm::SmallVector<Square> squares;
  Span rows, columns; // of the loaded squares
};

} // namespace halftone::compiler
