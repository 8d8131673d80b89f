// Draws are bit-identical for any number of threads, and in both numerics unless they take a logarithm.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/CpuDevice.h"
#include "runtime/devices/Registry.h"
#include "tests/frontend/Recorded.h"
#include "tests/frontend/layers/EveryDraw.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;

TEST_CASE("Every draw has the same bits on 1, 2 and 4 threads") {
  const std::shared_ptr<CpuDevice> device = sharedCpuDevice().valueOrThrow();
  const int before = device->threads();
  for (const Run run : {Run::compiled, Run::strict}) {
    std::vector<std::vector<double>> first;
    for (const int threads : {1, 2, 4}) {
      device->setThreads(threads).orThrow();
      std::vector<std::vector<double>> found;
      for (const Tensor &tensor : everyDraw(run, {130, 1031}))
        found.push_back(numbers(tensor));
      if (first.empty())
        first = found;
      CHECK(found == first);
    }
    CHECK(first.size() == std::size(drawNames));
  }
  device->setThreads(before).orThrow();
}

TEST_CASE("The interpreter and both numerics agree on the draws without transcendental functions") {
  const std::vector<Tensor> interpreted = everyDraw(Run::interpreted, {5, 37});
  const std::vector<Tensor> fast = everyDraw(Run::compiled, {5, 37}), strict = everyDraw(Run::strict, {5, 37});
  for (size_t i = 0; i < exactDraws; ++i) {
    INFO(drawNames[i]);
    CHECK(numbers(strict[i]) == numbers(interpreted[i]));
    CHECK(numbers(fast[i]) == numbers(interpreted[i]));
  }
}
