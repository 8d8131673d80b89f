// Compares the checksum with that of zlib.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Crc32.h"
#include <catch2/catch.hpp>
#include <random>
#include <string_view>
#include <vector>
#include <zlib.h>

using namespace halftone;

TEST_CASE("The checksum is zlib's for every length and start, in one piece or in two") {
  std::mt19937 random(5);
  std::vector<std::byte> bytes(700);
  for (std::byte &byte : bytes)
    byte = static_cast<std::byte>(random());
  const auto zlib = [](std::span<const std::byte> data, uint32_t before) {
    return static_cast<uint32_t>(crc32_z(before, reinterpret_cast<const Bytef *>(data.data()), data.size()));
  };
  for (size_t size = 0; size <= 600; ++size) {
    const auto before = static_cast<uint32_t>(random());
    const std::span<const std::byte> data(bytes.data() + random() % 64, size); // at any alignment
    const uint32_t expected = zlib(data, before);
    REQUIRE(crc32Of(data, before) == expected);
    const size_t cut = size == 0 ? 0 : random() % size;
    REQUIRE(crc32Of(data.subspan(cut), crc32Of(data.first(cut), before)) == expected);
  }
  CHECK(crc32Of(std::as_bytes(std::span(std::string_view("123456789")))) == 0xcbf43926);
  CHECK(crc32Of({}, 7) == 7); // with zlib a null pointer would start over
}
