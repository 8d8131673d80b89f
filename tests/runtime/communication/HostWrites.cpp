// The digest of the values that the host writes to watched variables.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/communication/HostWrites.h"
#include "runtime/VariableStore.h"
#include "runtime/devices/CpuDevice.h"
#include <catch2/catch.hpp>

using namespace halftone;

namespace {

/// The words of the digest after the values were written to a variable, which is watched from the second value on.
std::string wordsAfter(const std::vector<double> &values, bool together = false) {
  HostWrites::forget();
  VariableStore store(CpuDevice::create(1).valueOrThrow());
  const VariableHandle w = store.create("net/w", Tensor::zeros({2})).valueOrThrow();
  for (double value : values) {
    const Tensor written = Tensor::full({2}, value, DType::float32);
    CHECK((together ? writeTogether({w}, {written}) : w->write(written)).isOk());
    w->watch();
  }
  return HostWrites::words();
}

} // namespace

TEST_CASE("Values of a watched variable have words that name it, and other words for other values") {
  CHECK(wordsAfter({}).empty());
  CHECK(wordsAfter({1}).empty());
  CHECK_THAT(wordsAfter({1, 2}), Catch::StartsWith("; the host has set 1 values, the last of 'net/w' ("));
  CHECK(wordsAfter({1, 2}) == wordsAfter({7, 2}));
  CHECK(wordsAfter({1, 2}) == wordsAfter({1, 2}, true));
  CHECK(wordsAfter({1, 2}) != wordsAfter({1, 3}));
  CHECK(wordsAfter({1, 2, 3}) != wordsAfter({1, 3, 2}));
  HostWrites::forget();
  CHECK(HostWrites::words().empty());
}
