// Blocks of whole pages: alignment, writing, and a size that no machine supports.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/PageMemory.h"
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace halftone;

TEST_CASE("A block of pages is aligned and can be written; too large a one is null") {
  for (const size_t bytes : {size_t(1), size_t(4096), minHugeBlock - 1, minHugeBlock, minHugeBlock + 5}) {
    INFO(bytes);
    const std::unique_ptr<void, void (*)(void *)> block(allocatePages(bytes), [](void *p) { std::free(p); });
    REQUIRE(block);
    CHECK(reinterpret_cast<uintptr_t>(block.get()) % 4096 == 0);
    std::memset(block.get(), 7, bytes);
    CHECK(static_cast<const unsigned char *>(block.get())[bytes - 1] == 7);
  }
  CHECK(allocatePages(size_t(1) << 50) == nullptr);
}
