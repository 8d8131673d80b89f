// Checks the number of parts into which GPUs split the sums of products.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/GpuBlocking.h"
#include <catch2/catch.hpp>

using namespace halftone::compiler;

TEST_CASE("A GPU cuts long sums of few tiles into two to eight parts", "[nvptx]") {
  auto [batch, m, n, k, parts] = GENERATE(table<int64_t, int64_t, int64_t, int64_t, int64_t>({
      {1, 784, 32, 4032, 3},  // 25 tiles
      {1, 784, 32, 1024, 4},  // three do not divide 1024
      {1, 128, 10, 65536, 8}, // 4 tiles; at most 8 parts
      {1, 128, 10, 1024, 4},  // at least 256 indices of K per part
      {1, 128, 10, 1023, 1},  // not long enough
      {1, 128, 10, 1029, 3},  // an odd K
      {1, 128, 10, 1031, 1},  // a prime
      {1, 1024, 1024, 4096, 1},
      {14, 128, 10, 4096, 1}, // 56 tiles
      {1, 0, 10, 4096, 1},
  }));
  CAPTURE(batch, m, n, k);
  const halftone::DType dtype = halftone::DType::float32;
  CHECK(GpuBlocking(108).depthParts({dtype, dtype, dtype, m, n, k, batch}) == parts);
}
