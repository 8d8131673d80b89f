// The table of tilings of matrix products on GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/GpuMatmul.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <iterator>

namespace halftone::compiler {

namespace {

/// A larger tile reads each operand less often; a smaller one occupies more multiprocessors.
struct Row {
  int64_t side;
  int64_t threadRows, threadColumns; // of multiply-adds
  int64_t depth;                     // of multiply-adds in 32 bits
  int64_t warpSide;                  // of warp-level products
  double efficiency;                 // estimated products per cycle, relative to the best row
};

constexpr Row table[] = {
    {128, 8, 8, 16, 64, 1.0},
    {64, 8, 4, 16, 32, 0.8},
    {32, 4, 4, 32, 16, 0.5},
};

/// The smallest row that contains `tile`.
const Row *rowOf(const MatmulTile &tile) {
  for (const Row &row : llvm::reverse(table))
    if (tile.m <= row.side && tile.n <= row.side)
      return &row;
  return nullptr;
}

} // namespace

MatmulTile chooseMatmulTile(int64_t batch, int64_t m, int64_t n, int64_t multiprocessors) {
  const auto cost = [&](const Row &row) {
    const double tiles = double(batch) * double(ceilDivide(m, row.side)) * double(ceilDivide(n, row.side));
    const double waves = std::ceil(tiles / double(multiprocessors));
    return waves * double(row.side * row.side) / row.efficiency;
  };
  const Row *best = std::min_element(std::begin(table), std::end(table),
                                     [&](const Row &a, const Row &b) { return cost(a) < cost(b); });
  return {best->side, best->side};
}

std::optional<MatmulTiling> multiplyAddTiling(const MatmulTile &tile, mlir::Type accumulator) {
  const Row *row = rowOf(tile);
  if (!row)
    return std::nullopt;
  const int64_t depth = row->depth * 32 / accumulator.getIntOrFloatBitWidth();
  return MatmulTiling{row->side, row->side, depth, row->threadRows, row->threadColumns, 1};
}

std::optional<MatmulTiling> warpTiling(const MatmulTile &tile, int64_t depth) {
  constexpr int64_t warp = 32;
  const Row *row = rowOf(tile);
  if (!row)
    return std::nullopt;
  return MatmulTiling{row->side, row->side, depth, row->warpSide, row->warpSide, warp};
}

} // namespace halftone::compiler
