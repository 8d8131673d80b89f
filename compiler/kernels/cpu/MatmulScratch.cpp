// How much scratch a block of a matmul needs: packed operands of one K step, and the accumulators of a tile.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/Emitters.h"
#include <algorithm>

namespace halftone::compiler {

int64_t matmulScratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents, const CpuTarget &target) {
  constexpr int64_t step = 256, rows = 12, columns = 32;
  auto roles = kernel->getAttrOfType<mlir::DenseI64ArrayAttr>("halftone.roles").asArrayRef();
  auto padded = [](int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; };
  int64_t depth = 1;
  for (int64_t dim : extents.drop_back(2).take_back(roles[3]))
    depth *= dim;
  depth = std::min(depth, step);
  int64_t m = padded(extents[extents.size() - 2], rows), n = padded(extents.back(), columns);
  return 8 * (padded(m * depth, 8) + padded(n * depth, 8) + m * n);
}

} // namespace halftone::compiler
