// The steps of a scan kernel, for any target: going along the scanned dims, adding an element, storing a sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"

namespace halftone::compiler {

class ScanParts {
public:
  explicit ScanParts(BlockFrame &frame);

  /// Goes through all indices of `dims` in the order of the sums; `body` gets the carried values and returns the next.
  Values walk(llvm::ArrayRef<int> dims, llvm::ArrayRef<Emitted> carried,
              llvm::function_ref<Values(const Values &)> body);
  /// `accumulator` and the element at the present index.
  Emitted added(Emitted accumulator, const Lanes &lanes);
  /// Stores the sums at the present index.
  void store(Emitted sums, const Lanes &lanes);
  /// The sum of no elements.
  Emitted none(int64_t lanes) { return frame.splat(frame.initialOf(adding, 0), lanes); }
  Emitted combine(Emitted a, Emitted b);

  const bool reverse;
  const int vectorDim;
  mlir::linalg::GenericOp adding, storing;
  llvm::SmallVector<int> scanned, rows; // dims: those that are scanned; the others, without the vector dim
  bool alongLanes = false;              // the vector dim is scanned

private:
  BlockFrame &frame;
  std::string combiner;
};

} // namespace halftone::compiler
