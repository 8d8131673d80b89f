// Philox4x32-10 compared with the known-answer vectors of its authors' Random123 library.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Philox.h"
#include "Modules.h"

using namespace halftone::dialect;
using namespace halftone::dialect::testing;
using Block = std::array<uint32_t, 4>;

TEST_CASE("philox4x32 gives the published answers") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random_bits counts blocks of four along the row-major index") {
  TensorData bits = evaluate("%y = halftone.random_bits %0 : tensor<2xui32> -> tensor<3x5xui32>", "3x5xui32",
                             {wholes("2xui32", {7, 4000000000})});
  REQUIRE(bits.integers.size() == 15);
  for (int64_t i = 0; i < 15; ++i)
    CHECK(bits.integers[i] == philox4x32({static_cast<uint32_t>(i / 4), 0, 0, 0}, {7, 4000000000u})[i % 4]);
  TensorData zero =
      evaluate("%y = halftone.random_bits %0 : tensor<2xui32> -> tensor<4xui32>", "4xui32", {wholes("2xui32", {0, 0})});
  CHECK(zero.integers == std::vector<int64_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
}
