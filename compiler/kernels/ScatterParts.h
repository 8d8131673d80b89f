// The target-independent steps of a scatter kernel: reading an index, and combining updates with the selected row.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"

namespace halftone::compiler {

class ScatterParts {
public:
  explicit ScatterParts(BlockFrame &frame);

  /// The row number at the current index of the dims `index`. It may be out of bounds.
  Emitted namedRow();
  /// Sets the current row to `row`, which the current index selects.
  void moveToRow(Emitted row);
  /// Calls `clears` to emit the initialization of the block's rows, guarded by a check: if the result starts as a copy
  /// of x and is in x's memory, the rows are initialized already.
  void clearWhereNeeded(llvm::function_ref<void()> clears);
  /// Initializes the result's elements at the current row and column.
  void clear(const Lanes &lanes);
  /// Combines the update at the current index with the result's elements at the current row and column.
  void add(const Lanes &lanes);

  const int rowDim, vectorDim;
  mlir::linalg::GenericOp indexing, sum, start; // start: null if elements start as the neutral element
  llvm::SmallVector<int> outer, index, inner;   // the other dims: before the row dim, of the indices, after them

private:
  Emitted bodyOf(mlir::linalg::GenericOp generic, Emitted accumulator, const Lanes &lanes);
  std::optional<unsigned> copiedInput();

  BlockFrame &frame;
  TensorStorage storage;
  TensorAccess access;
};

} // namespace halftone::compiler
