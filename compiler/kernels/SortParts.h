// The target-independent steps of a sort kernel: computing the key of a position in a row, and storing an element.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"

namespace halftone::compiler {

/// The sizes of a launch of a sort kernel.
struct SortExtents {
  SortExtents(const KernelSource &source, llvm::ArrayRef<int64_t> extents);
  int64_t length, count; // per row: the number of elements, and of results
  int64_t keyBytes;
};

class SortParts {
public:
  explicit SortParts(BlockFrame &frame);

  /// Sets the current row to `row`, an index over all rows.
  void moveToRow(Emitted row) { frame.delinearize(row, rows); }
  /// The keys of the row's elements from position `position` on, consecutive ones if `lanes` is above 1.
  Emitted key(Emitted position, int64_t lanes = 0);
  /// Stores the element at position `position` of the row as element `number` of the sorted row.
  void storeSorted(Emitted number, Emitted position);

  llvm::SmallVector<int> sorted, rows; // dims: those along a row, and those over rows
  int resultDim;                       // the dim of the results along a row
  mlir::Type keyType;
  bool hasLanes; // key() can take several positions

private:
  Values emitOutputs(int64_t lanes);

  BlockFrame &frame;
  mlir::linalg::GenericOp making, storing;
};

} // namespace halftone::compiler
