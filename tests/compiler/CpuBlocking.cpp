// Block sizes: enough blocks, none too small, a function of extents alone.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/CpuBlocking.h"
#include <catch2/catch.hpp>

using namespace halftone::compiler;

TEST_CASE("matmul tiles follow extents") {
  auto [m, n, k, tileM, tileN] = GENERATE(table<int64_t, int64_t, int64_t, int64_t, int64_t>({
      {4096, 4096, 4096, 188, 256}, // enough blocks
      {512, 512, 512, 128, 128},    // an even count of parts along M, narrower columns
      {128, 512, 784, 128, 64},     // few rows: the columns cut
      {1, 512, 784, 4, 128},        // one row: each block has 2^16 elements of B
      {128, 10, 512, 32, 64},       // no narrower than a panel
      {64, 64, 64, 32, 64},         // each block has 2^17 multiply-adds
      {1, 1, 1, 4, 64},
      {0, 8, 8, 4, 64},
  }));
  MatmulTile tile = CpuBlocking().matmulTile(1, m, n, k);
  CHECK(tile.m == tileM);
  CHECK(tile.n == tileN);
}

TEST_CASE("tiles stay multiples of the micro-kernels'") {
  for (int64_t batch : {1, 7})
    for (int64_t m = 1; m < 700; m += 23)
      for (int64_t n = 1; n < 700; n += 31)
        for (int64_t k : {1, 100, 5000}) {
          MatmulTile tile = CpuBlocking().matmulTile(batch, m, n, k);
          bool valid =
              tile.m % 4 == 0 && tile.m <= 192 && tile.m > 0 && tile.n % 64 == 0 && tile.n <= 256 && tile.n > 0;
          CHECK(valid);
        }
}

TEST_CASE("side reductions cut the first axis that can be cut") {
  CHECK(blockedAxis({1, 1, 8, 4}) == 2);
  CHECK(CpuBlocking().rowsPerBlock({}) == 1);
  CHECK(CpuBlocking().rowsPerBlock({1}) == 1);
  CHECK(CpuBlocking().rowsPerBlock({128, 512}) == 16);                       // 8192 elements per block
  CHECK(CpuBlocking().rowsPerBlock({3, 5}) == 3);                            // one block
  CHECK(CpuBlocking().rowsPerBlock({int64_t(1) << 30}) == int64_t(1) << 23); // at most 128 blocks
  CHECK(CpuBlocking().sideReductionTile({1, 128, 512}, 2) == llvm::SmallVector<int64_t>{1, 16});
  CHECK(CpuBlocking().sideReductionTile({128, 512}, 2) == llvm::SmallVector<int64_t>{16, 512});
}
