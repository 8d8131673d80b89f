// The sizes of the rows that are stored between phases.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/KeptRows.h"
#include "runtime/plan/Abi.h"
#include "llvm/Support/MathExtras.h"

namespace halftone::compiler {
using namespace mlir;

int64_t keptRowBytes(const KernelSource &source, ArrayRef<int64_t> extents) {
  int64_t columns = 1, bytes = 0;
  for (int64_t extent : extents.take_front(source.dims).drop_front(source.form.outer))
    columns *= extent;
  for (linalg::GenericOp generic : source.generics)
    for (auto [value, combiner] : llvm::zip(generic.getResults(), combinersOf(generic))) {
      if (!combiner.empty() || llvm::is_contained(source.results(), value))
        continue;
      const Type element = cast<RankedTensorType>(value.getType()).getElementType();
      const int64_t row = columns * std::max(1u, element.getIntOrFloatBitWidth() / 8);
      bytes += int64_t(llvm::alignTo(uint64_t(row), uint64_t(bufferAlignment)));
    }
  return bytes;
}

} // namespace halftone::compiler
