// Block sizes of the kernel kinds.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/templates/Blocking.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace halftone::compiler {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

MatmulTile matmulTile(int64_t batch, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t wantedBlocks = 128, leastWork = int64_t(1) << 21, leastM = 12, leastN = 32;
  MatmulTile tile{96, 128};
  while (tile.m > leastM && tile.m / 2 >= m)
    tile.m /= 2;
  while (tile.n > leastN && tile.n / 2 >= n)
    tile.n /= 2;
  while (batch * ceilDiv(m, tile.m) * ceilDiv(n, tile.n) < wantedBlocks && tile.m * tile.n * k / 2 >= leastWork) {
    if (tile.n / 2 >= tile.m && tile.n > leastN)
      tile.n /= 2;
    else if (tile.m > leastM)
      tile.m /= 2;
    else if (tile.n > leastN)
      tile.n /= 2;
    else
      break;
  }
  return tile;
}

int64_t blockedAxis(llvm::ArrayRef<int64_t> shape) {
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (extent > 1)
      return axis;
  return 0;
}

int64_t rowsPerBlock(llvm::ArrayRef<int64_t> shape) {
  constexpr int64_t leastElements = 8192, mostBlocks = 512;
  if (shape.empty())
    return 1;
  int64_t axis = blockedAxis(shape), inner = 1;
  for (int64_t extent : shape.drop_front(axis + 1))
    inner *= extent;
  int64_t rows = std::max(ceilDiv(leastElements, std::max<int64_t>(inner, 1)), ceilDiv(shape[axis], mostBlocks));
  return std::clamp<int64_t>(rows, 1, std::max<int64_t>(shape[axis], 1));
}

llvm::SmallVector<int64_t> sideReductionTile(llvm::ArrayRef<int64_t> shape, int64_t reduced) {
  llvm::SmallVector<int64_t> tile;
  int64_t blocked = blockedAxis(shape);
  for (int64_t axis = 0; axis < reduced; ++axis)
    tile.push_back(axis == blocked ? rowsPerBlock(shape) : std::max<int64_t>(shape[axis], 1));
  return tile;
}

} // namespace halftone::compiler
