// The steps of a sort kernel, for any target: the key of a place of a row, and storing the element of a place.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"

namespace halftone::compiler {

/// The facts of a launch of a sort kernel.
struct SortExtents {
  SortExtents(const KernelSource &source, llvm::ArrayRef<int64_t> extents);
  int64_t length, count; // of a row: its elements, and those that the kernel gives
  int64_t keyBytes;
};

class SortParts {
public:
  explicit SortParts(BlockFrame &frame);

  /// Goes to row `row` of all rows.
  void standAtRow(Emitted row) { frame.delinearize(row, rows); }
  /// The keys of the row's places from `place` on, neighbours if `lanes` has more than one.
  Emitted key(Emitted place, int64_t lanes = 0);
  /// Stores the element of the row's place `place` as the one number `number` of the sorted row.
  void give(Emitted number, Emitted place);

  llvm::SmallVector<int> sorted, rows; // dims: those of a row, and those that count rows
  int givenDim;                        // the dim of the results along a row
  mlir::Type keyType;
  bool hasLanes; // key() takes several places

private:
  Values made(int64_t lanes);

  BlockFrame &frame;
  mlir::linalg::GenericOp making, storing;
};

} // namespace halftone::compiler
