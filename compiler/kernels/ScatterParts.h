// The steps of a scatter kernel, for any target: the row that an index names, and adding a slice of the updates to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"

namespace halftone::compiler {

class ScatterParts {
public:
  explicit ScatterParts(BlockFrame &frame);

  /// The row that the index at the present place of the dims `index` names.
  Emitted namedRow();
  /// The present place is `row`, which the present index names.
  void standAt(Emitted row);
  /// Gives the result's elements at the present row and column their first value.
  void clear(const Lanes &lanes);
  /// Adds the update of the present index to the result's elements at the present row and column.
  void add(const Lanes &lanes);

  const int rowDim, vectorDim;
  mlir::linalg::GenericOp indexing, sum;
  llvm::SmallVector<int> outer, index, inner; // the other dims: before the row dim, of the indices, after them

private:
  Emitted bodyOf(mlir::linalg::GenericOp generic, Emitted accumulator, const Lanes &lanes);

  BlockFrame &frame;
  TensorStorage storage;
  TensorAccess access;
};

} // namespace halftone::compiler
