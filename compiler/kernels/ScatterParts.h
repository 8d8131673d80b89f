// The steps of a scatter kernel, for any target: the row that an index names, and combining a slice of the updates with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"

namespace halftone::compiler {

class ScatterParts {
public:
  explicit ScatterParts(BlockFrame &frame);

  /// The row that the index at the present place of the dims `index` names, if it names one.
  Emitted namedRow();
  /// The present place is `row`, which the present index names.
  void standAt(Emitted row);
  /// `clears` gives all elements of the block's rows their first value: not if the result starts as x and lies in x's memory.
  void clearWhereNeeded(llvm::function_ref<void()> clears);
  /// Gives the result's elements at the present row and column their first value.
  void clear(const Lanes &lanes);
  /// Combines the update of the present index with the result's elements at the present row and column.
  void add(const Lanes &lanes);

  const int rowDim, vectorDim;
  mlir::linalg::GenericOp indexing, sum, start; // start: null if elements start from the neutral one
  llvm::SmallVector<int> outer, index, inner;   // the other dims: before the row dim, of the indices, after them

private:
  Emitted bodyOf(mlir::linalg::GenericOp generic, Emitted accumulator, const Lanes &lanes);
  std::optional<unsigned> copiedInput();

  BlockFrame &frame;
  TensorStorage storage;
  TensorAccess access;
};

} // namespace halftone::compiler
