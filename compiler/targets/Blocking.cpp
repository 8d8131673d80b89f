// The parts of blocking that no target changes.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/Blocking.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace halftone::compiler {

int64_t ceilDivide(int64_t a, int64_t b) { return a == 0 ? 0 : (a - 1) / b + 1; }

int64_t blockedAxis(llvm::ArrayRef<int64_t> shape) {
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (extent > 1)
      return axis;
  return 0;
}

llvm::SmallVector<int64_t> Blocking::sideReductionTile(llvm::ArrayRef<int64_t> shape, int64_t reduced) const {
  llvm::SmallVector<int64_t> tile;
  int64_t blocked = blockedAxis(shape);
  for (int64_t axis = 0; axis < reduced; ++axis)
    tile.push_back(axis == blocked ? rowsPerBlock(shape) : std::max<int64_t>(shape[axis], 1));
  return tile;
}

} // namespace halftone::compiler
