// FarmHash's fingerprint and SipHash, compared with TensorFlow's for texts that reach every branch.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/StringHashes.h"
#include <catch2/catch.hpp>
#include <string>

using namespace halftone::detail;

TEST_CASE("Fingerprints of texts of every length class are TensorFlow's") {
  constexpr uint64_t bins = uint64_t(1) << 62; // to_hash_bucket_fast(texts, 2**62)
  CHECK(fingerprint64("") % bins == 1936946117179621455);
  CHECK(fingerprint64("a") % bins == 3694432073954588131);
  CHECK(fingerprint64("hello world") % bins == 1769834696496558107);
  CHECK(fingerprint64(std::string(20, 'x')) % bins == 3621402210320469444);
  CHECK(fingerprint64(std::string(40, 'y')) % bins == 276292113409495006);
  CHECK(fingerprint64(std::string(100, 'z')) % bins == 4609163928736578169);
  CHECK(fingerprint64(std::string(200, 'w')) % bins == 526236191678461824);
}

TEST_CASE("SipHash under a key is TensorFlow's") {
  constexpr uint64_t bins = uint64_t(1) << 62; // to_hash_bucket_strong(texts, 2**62, key=[133, 137])
  CHECK(sipHash64("", {133, 137}) % bins == 316627932347062996);
  CHECK(sipHash64("a", {133, 137}) % bins == 2466253977694453450);
  CHECK(sipHash64("hello world", {133, 137}) % bins == 3672456908529363296);
}
