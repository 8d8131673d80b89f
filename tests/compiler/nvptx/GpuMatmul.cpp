// Checks which tiles matrix products get on GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/GpuMatmul.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::compiler;

TEST_CASE("Large products have large tiles, small ones as many tiles as there are multiprocessors", "[nvptx]") {
  CHECK(chooseMatmulTile(1, 8192, 8192, 108).m == 128);
  CHECK(chooseMatmulTile(1, 64, 10, 108).m == 32);
  for (int64_t side : {1, 33, 300, 1000, 5000})
    for (int64_t batch : {1, 7, 200}) {
      const MatmulTile tile = chooseMatmulTile(batch, side, side, 108);
      CHECK(tile.m == tile.n);
      CHECK((tile.m == 32 || tile.m == 64 || tile.m == 128));
    }
}

TEST_CASE("The threads of a block share the whole tile in all types", "[nvptx]") {
  mlir::MLIRContext context;
  mlir::Builder builder(&context);
  for (int64_t side : {1, 12, 32, 33, 64, 100, 128}) {
    for (mlir::Type type : {mlir::Type(builder.getF32Type()), mlir::Type(builder.getF64Type())}) {
      const auto tiling = multiplyAddTiling({side, side}, type);
      REQUIRE(tiling);
      CHECK(tiling->rows >= side);
      CHECK(tiling->down() * tiling->partRows == tiling->rows);
      CHECK(tiling->threads() <= 256);
      CHECK(tiling->partRows * tiling->partColumns * type.getIntOrFloatBitWidth() <= 128 * 32); // registers
    }
    const auto tiling = warpTiling({side, side}, 64);
    REQUIRE(tiling);
    CHECK(tiling->columns >= side);
    CHECK(tiling->depth == 64);
    CHECK(tiling->threads() == 128);
  }
  CHECK_FALSE(multiplyAddTiling({192, 256}, builder.getF32Type()));
  CHECK_FALSE(warpTiling({129, 1}, 64));
}
