// zlib streams decompress to the same bytes, and are shorter if the bytes repeat.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Deflate.h"
#include <catch2/catch.hpp>
#include <zlib.h>

using namespace halftone;

TEST_CASE("zlib inflates the stream of any bytes to these bytes") {
  std::string counted;
  for (int i = 0; i < 70000; ++i)
    counted.push_back(static_cast<char>(i * i >> 3));
  for (const std::string &bytes : {std::string(), std::string("a"), std::string(100000, 'x'), counted}) {
    const std::string stream = *zlibStream(bytes);
    std::string back(bytes.size() + 1, '?');
    uLongf size = back.size();
    REQUIRE(uncompress(reinterpret_cast<Bytef *>(back.data()), &size, reinterpret_cast<const Bytef *>(stream.data()),
                       stream.size()) == Z_OK);
    back.resize(size);
    CHECK(back == bytes);
  }
  CHECK(zlibStream(std::string(100000, 'x'))->size() < 1000);
}
