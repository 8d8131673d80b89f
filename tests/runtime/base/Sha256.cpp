// SHA-256 compared with published digests; lengths around a block.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Sha256.h"
#include <catch2/catch.hpp>

using halftone::sha256;

TEST_CASE("SHA-256 gives the digests of FIPS 180-4's examples") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 pads at each length around a block") {
  const char *const digests[] = {"aadaed00a3c5fbb8072ae7f1984ba8199fbe5272de427d11eaf31583af37db51",
                                 "528ff50ab05e77bbbd224a9ec86165dbb6824a9a9efb544be0a1d57d5b416457",
                                 "d12449c8124182545ae91924286cc6af13528bcf62a5ddbd5e00b891fffc1b48",
                                 "8667e718294e9e0df1d30600ba3eeb201f764aad2dad72748643e4a285e1d1f7",
                                 "855c9a28fff2bbbd71327165554a00c6fdd44d5d58c1f12b8fdff29b5d67f001"};
  const size_t lengths[] = {55, 56, 63, 64, 65};
  for (size_t i = 0; i < 5; ++i)
    CHECK(sha256(std::string(lengths[i], '\xff')) == digests[i]);
}
