// Block sizes: enough blocks, none too small, depending on the extents alone.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/cpu/Emitters.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::compiler;

namespace {

/// The blocking of a CPU that reads windows directly from the image.
const Blocking &blocking() {
  static const auto &cpu = *new CpuTarget(CpuTarget::find("x86-64-v3").valueOrThrow());
  return cpu.blocking(compiler::Numerics::fast());
}

MatmulTraits product(int64_t batch, int64_t m, int64_t n, int64_t k) {
  MatmulTraits traits{DType::float32, DType::float32, DType::float32, m, n, k, batch};
  traits.lhsAlongDepth = true;
  return traits;
}

/// The traits of a window product with `line` output positions per line.
MatmulTraits windowProduct(int64_t m, int64_t n, int64_t k, int64_t line) {
  MatmulTraits traits = product(1, m, n, k);
  traits.window = true;
  traits.windowChannels = traits.windowPitch = 64;
  traits.windowRun = 3 * traits.windowChannels;
  traits.windowLine = line;
  return traits;
}

} // namespace

TEST_CASE("matmul tiles follow extents") {
  auto [m, n, k, tileM, tileN] = GENERATE(table<int64_t, int64_t, int64_t, int64_t, int64_t>({
      {4096, 4096, 4096, 188, 256}, // enough blocks
      {512, 512, 512, 128, 128},    // an even number of parts along M, narrower columns
      {128, 512, 784, 128, 64},     // few rows: the columns are cut
      {1, 512, 784, 4, 128},        // one row: each block has 2^16 elements of B
      {128, 10, 512, 32, 64},       // not narrower than a panel
      {64, 64, 64, 32, 64},         // each block has 2^17 multiply-adds
      {1, 1, 1, 4, 64},
      {0, 8, 8, 4, 64},
  }));
  MatmulTile tile = blocking().matmulTile(product(1, m, n, k));
  CHECK(tile.m == tileM);
  CHECK(tile.n == tileN);
}

TEST_CASE("tiles stay multiples of the micro-kernels'") {
  for (int64_t batch : {1, 7})
    for (int64_t m = 1; m < 700; m += 23)
      for (int64_t n = 1; n < 700; n += 31)
        for (int64_t k : {1, 100, 5000}) {
          MatmulTile tile = blocking().matmulTile(product(batch, m, n, k));
          bool valid =
              tile.m % 4 == 0 && tile.m <= 192 && tile.m > 0 && tile.n % 64 == 0 && tile.n <= 256 && tile.n > 0;
          CHECK(valid);
        }
}

TEST_CASE("Tiles of images have whole lines, and are blocks enough") {
  auto [m, n, k, line, tileM, tileN] = GENERATE(table<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>({
      {25088, 64, 576, 56, 448, 64}, // enough blocks
      {3136, 64, 576, 56, 392, 32},  // an even number of parts along M, narrower columns
      {6272, 128, 1152, 28, 448, 64},
      {392, 512, 4608, 7, 392, 32}, // all rows
      {49, 512, 4608, 7, 49, 32},
      {196, 256, 2304, 14, 98, 32},
      {64, 32, 144, 8, 32, 32}, // half of a block would have fewer than 2^17 multiply-adds
      {0, 16, 8, 8, 8, 32},
  }));
  CAPTURE(m, n, k, line);
  const MatmulTile tile = blocking().matmulTile(windowProduct(m, n, k, line));
  CHECK(tile.m == tileM);
  CHECK(tile.n == tileN);
  CHECK(tile.m % line == 0);
  MatmulTraits packed = windowProduct(m, n, k, line); // too few channels
  packed.windowChannels = 8;
  const MatmulTile tileOfMatrix = blocking().matmulTile(packed), expected = blocking().matmulTile(product(1, m, n, k));
  CHECK(tileOfMatrix.m == expected.m);
  CHECK(tileOfMatrix.n == expected.n);
}

TEST_CASE("Long sums of few blocks are cut into equal parts, each worth a block") {
  auto [batch, m, n, k, parts] = GENERATE(table<int64_t, int64_t, int64_t, int64_t, int64_t>({
      {1, 784, 128, 16384, 4}, // 6 of the largest tiles
      {1, 30, 10, 16384, 16},
      {4, 30, 10, 16384, 4},
      {16, 30, 10, 16384, 1},
      {1, 30, 10, 8192, 1},   // not long enough
      {1, 3, 5, 16384, 4},    // up to 6 parts would each be worth a block
      {1, 1, 1, 16384, 4},    // a part reads as much of the right operand as a block
      {1, 1, 1, 9000, 1},     // half of K is not a multiple of 8, as K is
      {1, 30, 10, 60000, 25}, // most parts of this K are not multiples of 16 either
      {1, 30, 10, 16383, 43}, // 3 x 43 x 127
      {1, 30, 10, 16411, 1},  // a prime
      {1, 0, 10, 16384, 1},
      {0, 30, 10, 16384, 1},
      {1, 30, 10, 0, 1},
  }));
  CAPTURE(batch, m, n, k);
  CHECK(blocking().depthParts(product(batch, m, n, k)) == parts);
  if (parts == 1 || m < 30)
    return;
  const MatmulTile tile = blocking().matmulTile(product(batch * parts, m, n, k / parts));
  CHECK(batch * parts * ceilDivide(m, tile.m) * ceilDivide(n, tile.n) >= 16);
}

TEST_CASE("partial reductions cut the first axis that can be cut") {
  CHECK(blockedAxis({1, 1, 8, 4}) == 2);
  CHECK(blocking().rowsPerBlock({}) == 1);
  CHECK(blocking().rowsPerBlock({1}) == 1);
  CHECK(blocking().rowsPerBlock({128, 512}) == 16);                       // 8192 elements per block
  CHECK(blocking().rowsPerBlock({3, 5}) == 3);                            // one block
  CHECK(blocking().rowsPerBlock({int64_t(1) << 30}) == int64_t(1) << 23); // at most 128 blocks
  CHECK(blocking().partialReductionTile({1, 128, 512}, 2) == llvm::SmallVector<int64_t>{1, 16});
  CHECK(blocking().partialReductionTile({128, 512}, 2) == llvm::SmallVector<int64_t>{16, 512});
}

TEST_CASE("Blocks of lanes along groups have whole sets of rows that are accumulated together") {
  for (int64_t rows : {1, 7, 196, 3136, 25088})
    for (int64_t columns : {8, 128, 512}) {
      const LoopBlocks blocks = blocking().loopBlocks({rows, columns, 36, false, false, false, /*groups=*/true});
      CAPTURE(rows, columns, blocks.rows, blocks.columns);
      CHECK(blocks.rows % groupedRows == 0);
      CHECK(blocks.columns == std::min<int64_t>(columns, 64));
      CHECK(ceilDivide(rows, blocks.rows) * ceilDivide(columns, blocks.columns) <= 512);
    }
  const LoopBlocks shared = blocking().loopBlocks({9, 128, 25088, false, false, true, /*groups=*/true});
  CHECK(shared.rows == sharedRows);
  CHECK(shared.columns == 32);
}

TEST_CASE("Recurrences have runs of rows that several threads share, and weights that stay near") {
  const CpuTarget tiled(CpuTarget::find("sapphirerapids").valueOrThrow());
  const auto rowsOf = [](int64_t rows, int64_t units, DType factors = DType::float32, const Blocking &on = blocking()) {
    RecurrenceTraits traits;
    traits.factors = factors;
    traits.rows = rows;
    traits.contractions = 1;
    traits.weights = 4 * units * units;
    traits.columns = units;
    return on.recurrenceRows(traits);
  };
  CHECK(rowsOf(32, 32) == 8);
  CHECK(rowsOf(1, 32) == 1);
  CHECK(rowsOf(200, 32) == 16);
  CHECK(rowsOf(10000, 32) == 24);
  // The weights of 512 units take 4 MiB in f32.
  CHECK(rowsOf(32, 512) == 16);
  CHECK(rowsOf(64, 512) == 24);
  CHECK(rowsOf(32, 513) == std::nullopt);
  CHECK(rowsOf(32, 700, DType::bfloat16) == 16);
  // Launches multiply in AMX tiles.
  const Blocking &ofTiles = tiled.blocking(Numerics::fast());
  CHECK(rowsOf(32, 90, DType::bfloat16, ofTiles) == 8);
  CHECK(rowsOf(32, 91, DType::bfloat16, ofTiles) == std::nullopt);
  CHECK(rowsOf(4, 91, DType::bfloat16, ofTiles) == 4);
  CHECK(rowsOf(32, 91, DType::float32, ofTiles) == 8);
  // With few rows, packing many weights does not pay.
  CHECK(rowsOf(3, 128) == 3);
  CHECK(rowsOf(3, 129) == std::nullopt);
  RecurrenceTraits sums;
  sums.rows = 32;
  for (const auto [columns, expected] : {std::pair<int64_t, bool>{7, false}, {8, true}, {4096, true}, {4097, false}}) {
    sums.columns = columns;
    CHECK(blocking().recurrenceRows(sums).has_value() == expected);
  }
}
