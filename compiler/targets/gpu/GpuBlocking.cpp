// Block sizes for GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/GpuBlocking.h"
#include "compiler/targets/gpu/GpuMatmul.h"
#include <algorithm>

namespace halftone::compiler {

namespace {

/// The approximate number of blocks that a GPU executes at a time.
constexpr int64_t blocksAtOnce = 1024;

} // namespace

MatmulTile GpuBlocking::matmulTile(const MatmulTraits &traits) const {
  return chooseMatmulTile(traits.batch, traits.rows, traits.columns, multiprocessors);
}

int64_t GpuBlocking::depthParts(const MatmulTraits &traits) const {
  constexpr int64_t shortestCut = 1024, shortestPart = 256, maxParts = 8;
  const int64_t wantedTiles = multiprocessors / 2;
  const MatmulTile tile = matmulTile(traits);
  const int64_t tiles = traits.batch * ceilDivide(traits.rows, tile.m) * ceilDivide(traits.columns, tile.n);
  if (traits.depth < shortestCut || tiles == 0 || tiles >= wantedTiles)
    return 1;
  return nearestParts(traits.depth, ceilDivide(wantedTiles, tiles), std::min(traits.depth / shortestPart, maxParts));
}

LoopBlocks GpuBlocking::loopBlocks(const LoopSpace &space) const {
  const int64_t rows = std::max<int64_t>(space.rows, 1), columns = std::max<int64_t>(space.columns, 1);
  constexpr int64_t side = 64;
  if (space.transposes)
    return {std::min(rows, side), std::min(columns, side)};
  constexpr int64_t smallest = 4096, largest = 16384;
  const int64_t weight = std::max<int64_t>(space.weight, 1);
  const int64_t wanted =
      std::max(ceilDivide(smallest, weight), std::min(largest, ceilDivide(rows * columns, 4 * blocksAtOnce)));
  LoopBlocks blocks;
  blocks.columns = std::min(columns, roundUp(wanted, side));
  if (blocks.columns == columns)
    blocks.rows = std::clamp<int64_t>(wanted / columns, 1, rows);
  return blocks;
}

int64_t GpuBlocking::rowBlock(int64_t rows, int64_t columns) const {
  constexpr int64_t longest = 1024, warps = 8;
  const int64_t atOnce = columns <= longest ? warps : 1;
  return std::clamp<int64_t>(std::max(atOnce, ceilDivide(rows, 16 * blocksAtOnce)), 1, std::max<int64_t>(rows, 1));
}

int64_t GpuBlocking::scatterBlock(int64_t rows, int64_t indices, int64_t columns) const {
  // Each block reads all indices, which must remain a small part of its work.
  constexpr int64_t smallest = 4096, maxBlocks = 1024, columnsPerIndex = 8;
  const int64_t elements = (rows + indices) * std::max<int64_t>(columns, 1);
  const int64_t blocks = std::min(elements / smallest, elements / (columnsPerIndex * std::max<int64_t>(indices, 1)));
  return std::max<int64_t>(ceilDivide(rows, std::clamp<int64_t>(blocks, 1, maxBlocks)), 1);
}

int64_t GpuBlocking::rowsPerBlock(llvm::ArrayRef<int64_t> shape) const {
  constexpr int64_t minElements = 8192, maxBlocks = 256;
  if (shape.empty())
    return 1;
  const int64_t axis = blockedAxis(shape);
  int64_t inner = 1;
  for (int64_t extent : shape.drop_front(axis + 1))
    inner *= extent;
  // A thread of a row kernel combines its rows in two levels of accumulators.
  constexpr int64_t maxRows = 4096;
  const int64_t rows = std::max(ceilDivide(minElements, std::max<int64_t>(inner, 1)),
                                std::min(maxRows, ceilDivide(shape[axis], maxBlocks)));
  return std::clamp<int64_t>(rows, 1, std::max<int64_t>(shape[axis], 1));
}

} // namespace halftone::compiler
