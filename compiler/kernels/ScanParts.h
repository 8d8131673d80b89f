// The target-independent steps of a scan kernel: iterating over the scanned dims, adding an element, storing a sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"

namespace halftone::compiler {

class ScanParts {
public:
  explicit ScanParts(BlockFrame &frame);

  /// Iterates over `dims` in the order of the sums; `body` maps the carried values to the next ones.
  Values walk(llvm::ArrayRef<int> dims, llvm::ArrayRef<Emitted> carried,
              llvm::function_ref<Values(const Values &)> body);
  /// Combines `accumulator` with the element at the current index.
  Emitted added(Emitted accumulator, const Lanes &lanes);
  /// Stores the sums at the current index.
  void store(Emitted sums, const Lanes &lanes);
  /// The neutral element.
  Emitted none(int64_t lanes) { return frame.splat(frame.initialOf(adding, 0), lanes); }
  Emitted combine(Emitted a, Emitted b);

  const bool reverse;
  const int vectorDim;
  mlir::linalg::GenericOp adding, storing;
  llvm::SmallVector<int> scanned, rows; // dims: the scanned ones; the others, except the vector dim
  bool alongLanes = false;              // the vector dim is scanned

private:
  BlockFrame &frame;
  std::string combiner;
};

} // namespace halftone::compiler
