// Block sizes of the kernel kinds.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/templates/Blocking.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace halftone::compiler {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t roundUp(int64_t value, int64_t step) { return ceilDiv(value, step) * step; }

MatmulTile matmulTile(int64_t batch, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t mostM = 192, mostN = 256, stepM = 4, stepN = 64, wantedBlocks = 16, fewBlocks = 4;
  constexpr int64_t leastM = 12, fewRows = 48, someRows = 144;
  constexpr int64_t leastWork = int64_t(1) << 17, leastRead = int64_t(1) << 16;
  const auto cut = [](int64_t extent, int64_t parts, int64_t step) {
    return std::max(step, roundUp(ceilDiv(extent, parts), step));
  };
  const auto blocks = [&](MatmulTile tile) { return batch * ceilDiv(m, tile.m) * ceilDiv(n, tile.n); };
  // Parts of equal size, rather than a small one at the end, and as many for each of two threads.
  const int64_t rowParts = ceilDiv(std::max<int64_t>(m, 1), mostM);
  MatmulTile tile{cut(m, rowParts > 1 ? roundUp(rowParts, 2) : 1, stepM),
                  cut(n, ceilDiv(std::max<int64_t>(n, 1), mostN), stepN)};
  while (blocks(tile) < wantedBlocks) {
    // Columns first: what a block packs of the right operand serves all of its rows.
    const bool alongN = tile.n > stepN && (2 * tile.n > tile.m || tile.m <= fewRows);
    if (!alongN && (tile.m <= leastM || (tile.m <= someRows && blocks(tile) >= fewBlocks)))
      break;
    const MatmulTile smaller =
        alongN ? MatmulTile{tile.m, roundUp(tile.n / 2, stepN)} : MatmulTile{roundUp(tile.m / 2, stepM), tile.n};
    // Worth a block of its own: the multiplications, or, with few rows, reading the columns.
    const int64_t rows = std::min(m, smaller.m), columns = std::min(roundUp(n, 16), smaller.n);
    if (rows * columns * k < leastWork && columns * k < leastRead)
      break;
    tile = smaller;
  }
  return tile;
}

bool readsInPlace(int64_t m) { return m <= 16; }

int64_t blockedAxis(llvm::ArrayRef<int64_t> shape) {
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (extent > 1)
      return axis;
  return 0;
}

int64_t rowsPerBlock(llvm::ArrayRef<int64_t> shape) {
  constexpr int64_t leastElements = 8192, mostBlocks = 128; // each block writes a piece, which is read again
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
