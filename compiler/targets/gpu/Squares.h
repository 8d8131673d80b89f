// Transposed operands of loops, turned through shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/ThreadTile.h"

namespace halftone::compiler {

/// The inputs of a loop's generic that lie along its last row dim: a square of each is read along that dim, so that the
/// threads of a warp read neighbours, and kept in shared memory for steps along the columns.
class Squares {
public:
  static constexpr int64_t side = 64;

  Squares(GridFrame &frame, mlir::linalg::GenericOp generic);

  bool isEmpty() const { return squares.empty(); }
  /// Reads the elements of at most `side` rows and columns. All threads take part, and wait for each other.
  void load(Span rows, Span columns);
  /// Of input `position`, the elements at the present column and at `row`, both inside the last loaded squares; null for
  /// an input that has no square.
  Emitted read(unsigned position, Emitted row, const Lanes &lanes) const;

private:
  struct Square {
    unsigned position; // among the inputs
    TensorStorage storage;
    TensorAccess access;
    Emitted memory;
    /// Elements between two rows: an odd number of words of 4 bytes, so that neighbours in a column lie in other banks.
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
