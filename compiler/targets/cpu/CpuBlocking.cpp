// Block sizes for CPUs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/CpuBlocking.h"
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/matmul/MatmulSchedule.h"
#include <algorithm>

namespace halftone::compiler {

namespace {

/// At least 4096 simple elements per block, about 256 blocks for large spaces, and whole cache lines of a row (of f16
/// if each element is expensive; several lines if rows are long, since each row is then on its own page).
LoopBlocks plainBlocks(int64_t rows, int64_t columns, int64_t weight) {
  constexpr int64_t smallest = 4096, maxBlocks = 256;
  weight = std::max<int64_t>(weight, 1);
  int64_t line = weight < 64 ? 64 : columns >= 512 ? 128 : 32;
  int64_t wanted = std::max(ceilDivide(smallest, weight), ceilDivide(rows * columns, maxBlocks));
  LoopBlocks blocks;
  blocks.columns = std::min(std::max<int64_t>(columns, 1), roundUp(wanted, line));
  if (blocks.columns == columns)
    blocks.rows = std::clamp<int64_t>(wanted / std::max<int64_t>(columns, 1), 1, std::max<int64_t>(rows, 1));
  return blocks;
}

/// Blocks of the rows that are accumulated together, and of as many columns as fit in registers.
LoopBlocks sharedBlocks(int64_t rows, int64_t columns, bool groups) {
  const int64_t maxColumns = groups ? 32 : 64; // a group has sums for each channel
  return {std::min(rows, sharedRows), std::min(std::max<int64_t>(columns, 1), maxColumns)};
}

/// Blocks of whole sets of rows that are accumulated together, and of few enough columns that their part of the kernel
/// stays in the L1 cache for all rows.
LoopBlocks groupedBlocks(int64_t rows, int64_t columns, int64_t weight) {
  constexpr int64_t smallest = 4096, maxBlocks = 256, widest = 64;
  LoopBlocks blocks;
  blocks.columns = std::clamp<int64_t>(columns, 1, widest);
  const int64_t wanted =
      std::max(ceilDivide(smallest, std::max<int64_t>(weight, 1)), ceilDivide(rows * columns, maxBlocks));
  blocks.rows = roundUp(std::clamp<int64_t>(wanted / blocks.columns, 1, std::max<int64_t>(rows, 1)), groupedRows);
  return blocks;
}

/// Blocks for packed results: whole cache lines of the panels, and few enough rows for staging in little memory.
LoopBlocks packedBlocks(int64_t rows, int64_t columns) {
  constexpr int64_t longest = 256, smallest = 4096, maxBlocks = 256;
  LoopBlocks blocks;
  blocks.columns = std::clamp<int64_t>(columns, 1, longest);
  int64_t wanted = std::max(smallest, ceilDivide(rows * columns, maxBlocks)) / blocks.columns;
  blocks.rows = roundUp(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(rows, 1)), stagedRows);
  return blocks;
}

/// Blocks for transposition in squares, which access few pages of either tensor.
LoopBlocks squareBlocks(int64_t rows, int64_t columns) {
  constexpr int64_t side = 64, maxBlocks = 256;
  LoopBlocks blocks;
  blocks.columns = std::min(std::max<int64_t>(columns, 1), side);
  int64_t wanted = ceilDivide(rows * columns, maxBlocks * side * side) * side;
  blocks.rows = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(rows, 1));
  return blocks;
}

/// The number of blocks with which several threads can share a product.
constexpr int64_t wantedMatmulBlocks = 16;

/// The work of this block over `k` indices of K, in units of the work that justifies a separate block: multiplications
/// or, with few rows, reading the columns.
int64_t profitableBlocks(int64_t rows, int64_t columns, int64_t k) {
  constexpr int64_t minWork = int64_t(1) << 17, minRead = int64_t(1) << 16;
  return std::max(rows * columns * k / minWork, columns * k / minRead);
}

int64_t blocksOf(const MatmulTile &tile, const MatmulTraits &traits) {
  return traits.batch * ceilDivide(traits.rows, tile.m) * ceilDivide(traits.columns, tile.n);
}

constexpr int64_t stepM = 4, stepN = 64;

/// The largest tile of an m x n product. Parts have equal size, rather than a small last part, and two threads get
/// equally many.
MatmulTile largestTile(int64_t m, int64_t n) {
  constexpr int64_t maxM = 192, maxN = 256;
  const auto cut = [](int64_t extent, int64_t parts, int64_t step) {
    return std::max(step, roundUp(ceilDivide(extent, parts), step));
  };
  const int64_t rowParts = ceilDivide(std::max<int64_t>(m, 1), maxM);
  return {cut(m, rowParts > 1 ? roundUp(rowParts, 2) : 1, stepM),
          cut(n, ceilDivide(std::max<int64_t>(n, 1), maxN), stepN)};
}

MatmulTile matrixTile(const MatmulTraits &traits) {
  constexpr int64_t fewBlocks = 4, minM = 12, fewRows = 48, someRows = 144;
  const int64_t m = traits.rows, n = traits.columns;
  MatmulTile tile = largestTile(m, n);
  while (blocksOf(tile, traits) < wantedMatmulBlocks) {
    // Columns first: the part of the right operand that a block packs is used by all of its rows.
    const bool alongN = tile.n > stepN && (2 * tile.n > tile.m || tile.m <= fewRows);
    if (!alongN && (tile.m <= minM || (tile.m <= someRows && blocksOf(tile, traits) >= fewBlocks)))
      break;
    const MatmulTile smaller =
        alongN ? MatmulTile{tile.m, roundUp(tile.n / 2, stepN)} : MatmulTile{roundUp(tile.m / 2, stepM), tile.n};
    if (profitableBlocks(std::min(m, smaller.m), std::min(roundUp(n, 16), smaller.n), traits.depth) < 1)
      break;
    tile = smaller;
  }
  return tile;
}

/// The tile of a product whose left operand is a window read from the image.
MatmulTile imageTile(const MatmulTraits &traits) {
  // A tile has many whole lines, since each tile of rows packs the right operand again, and a row only needs memory for
  // its sums. With an even number of parts, two threads get the same work.
  constexpr int64_t maxM = 448, maxN = 128, minN = 32;
  const int64_t m = traits.rows, n = traits.columns, line = traits.windowLine;
  const int64_t lines = std::max<int64_t>(ceilDivide(m, line), 1);
  int64_t parts = ceilDivide(lines * line, maxM);
  parts = parts > 1 ? roundUp(parts, 2) : 1;
  MatmulTile tile{ceilDivide(lines, parts) * line, std::clamp(roundUp(n, minN), minN, maxN)};
  while (blocksOf(tile, traits) < wantedMatmulBlocks) {
    MatmulTile smaller = tile;
    if (tile.n > minN)
      smaller.n = roundUp(tile.n / 2, minN);
    else
      smaller.m = ceilDivide(lines, parts = std::min(2 * parts, lines)) * line;
    if (smaller.m * smaller.n == tile.m * tile.n || profitableBlocks(smaller.m, smaller.n, traits.depth) < 1)
      break;
    tile = smaller;
  }
  return tile;
}

} // namespace

MatmulTile CpuBlocking::matmulTile(const MatmulTraits &traits) const {
  const bool isImage = traits.window && readsImage(target(), traits, chooseProduct(target(), traits));
  return isImage ? imageTile(traits) : matrixTile(traits);
}

int64_t CpuBlocking::depthParts(const MatmulTraits &traits) const {
  constexpr int64_t longestWhole = 8192, maxParts = 64;
  const int64_t m = traits.rows, n = traits.columns, k = traits.depth;
  const int64_t blocks = blocksOf(matrixTile(traits), traits);
  if (k <= longestWhole || blocks == 0 || blocks >= wantedMatmulBlocks)
    return 1;
  // Splits K instead of using smaller tiles.
  const MatmulTile tile = largestTile(m, n);
  const int64_t wanted = ceilDivide(wantedMatmulBlocks, blocksOf(tile, traits));
  const int64_t worth = profitableBlocks(std::min(m, tile.m), std::min(roundUp(n, 16), tile.n), k);
  return nearestParts(k, wanted, std::min(worth, maxParts));
}

std::optional<AttentionTile> CpuBlocking::attentionTile(const AttentionTraits &traits) const {
  constexpr int64_t longest = 256, minScores = 4096, minKeys = 32; // from here on one launch beats four
  constexpr int64_t fewQueries = 4, manyKeys = 64;
  const auto isShort = [](int64_t extent) { return extent >= 1 && extent <= longest; };
  const bool isLarge = traits.keys >= minKeys && traits.queries * traits.keys >= minScores;
  const bool isFew = traits.queries >= 1 && traits.queries <= fewQueries && traits.keys >= manyKeys;
  if (traits.dtype == DType::float64 || !isShort(traits.depth) || !isShort(traits.width) || !(isLarge || isFew))
    return std::nullopt;
  constexpr int64_t maxQueries = 96, maxKeys = 96, step = 16; // scores and operands of a step stay in the caches
  if (isFew)                                                  // one at a time, with lanes along keys
    return AttentionTile{1, std::min(traits.keys, maxKeys)};
  const int64_t parts = ceilDivide(traits.queries, maxQueries);
  return AttentionTile{ceilDivide(ceilDivide(traits.queries, parts), step) * step, std::min(traits.keys, maxKeys)};
}

std::optional<int64_t> CpuBlocking::recurrenceRows(const RecurrenceTraits &traits) const {
  constexpr int64_t maxContractions = 8, maxBytes = int64_t(4) << 20;
  constexpr int64_t fewRows = 4, maxBytesOfFewRows = int64_t(256) << 10;
  const int64_t bytes = traits.weights * (traits.factors == DType::bfloat16 ? 2 : 4);
  if (traits.contractions > maxContractions || bytes > (traits.rows < fewRows ? maxBytesOfFewRows : maxBytes))
    return std::nullopt;
  // Unless the weights are few, AMX tiles in separate launches multiply a step's rows faster than vectors in one kernel
  // do.
  constexpr int64_t fewWeights = 32768;
  if (traits.factors == DType::bfloat16 && traits.rows > fewRows && traits.weights > fewWeights &&
      findProduct(target(), cpu::Product::tdpbf16ps))
    return std::nullopt;
  // Loops without a contraction: columns must fill the lanes, and rows must not be so long that threads should share
  // them.
  if (constexpr int64_t minColumns = 8, maxColumns = 4096;
      traits.contractions == 0 && (traits.columns < minColumns || traits.columns > maxColumns))
    return std::nullopt;
  // Weights that do not fit in a cache are read again for each block.
  constexpr int64_t step = 8, rowsOfStep = 128, maxSteps = 3, bytesOfStep = int64_t(1) << 20;
  const int64_t steps = std::max(ceilDivide(traits.rows, rowsOfStep), ceilDivide(bytes, bytesOfStep));
  const int64_t half = roundUp(ceilDivide(traits.rows, 2), step); // two threads at least
  return std::min({traits.rows, half, step * std::clamp<int64_t>(steps, 1, maxSteps)});
}

LoopBlocks CpuBlocking::loopBlocks(const LoopSpace &space) const {
  if (space.packs)
    return packedBlocks(space.rows, space.columns);
  if (space.transposes)
    return squareBlocks(space.rows, space.columns);
  if (constexpr int64_t minWeight = 64; space.sharesRows && space.weight >= minWeight)
    return sharedBlocks(std::max<int64_t>(space.rows, 1), space.columns, space.groups);
  if (space.groups)
    return groupedBlocks(space.rows, space.columns, space.weight);
  return plainBlocks(space.rows, space.columns, space.weight);
}

int64_t CpuBlocking::rowBlock(int64_t rows, int64_t columns) const {
  constexpr int64_t smallest = 4096, maxBlocks = 256;
  int64_t wanted = std::max(smallest / std::max<int64_t>(columns, 1), ceilDivide(rows, maxBlocks));
  return std::clamp<int64_t>(wanted, 1, std::max<int64_t>(rows, 1));
}

int64_t CpuBlocking::scatterBlock(int64_t rows, int64_t indices, int64_t columns) const {
  // Each block reads all indices, which must remain a small part of its work.
  constexpr int64_t smallest = 4096, maxBlocks = 128, columnsPerIndex = 8;
  int64_t elements = (rows + indices) * std::max<int64_t>(columns, 1);
  int64_t blocks = std::min(elements / smallest, elements / (columnsPerIndex * std::max<int64_t>(indices, 1)));
  return std::max<int64_t>(ceilDivide(rows, std::clamp<int64_t>(blocks, 1, maxBlocks)), 1);
}

int64_t CpuBlocking::rowsPerBlock(llvm::ArrayRef<int64_t> shape) const {
  constexpr int64_t minElements = 8192, maxBlocks = 128;
  if (shape.empty())
    return 1;
  int64_t axis = blockedAxis(shape), inner = 1;
  for (int64_t extent : shape.drop_front(axis + 1))
    inner *= extent;
  int64_t rows = std::max(ceilDivide(minElements, std::max<int64_t>(inner, 1)), ceilDivide(shape[axis], maxBlocks));
  return std::clamp<int64_t>(rows, 1, std::max<int64_t>(shape[axis], 1));
}

} // namespace halftone::compiler
