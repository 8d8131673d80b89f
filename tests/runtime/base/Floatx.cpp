// The default float dtype of the process.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Floatx.h"
#include <catch2/catch.hpp>
#include <thread>

using namespace halftone;

TEST_CASE("floatx is one for all threads") {
  CHECK(floatx() == DType::float32);
  setFloatx(DType::float64);
  DType seen = DType::float32;
  std::thread([&] { seen = floatx(); }).join();
  setFloatx(DType::float32);
  CHECK(seen == DType::float64);
  CHECK(floatx() == DType::float32);
}
