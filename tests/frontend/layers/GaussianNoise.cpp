// GaussianNoise and GaussianDropout: moments, seeds, dtypes, and no effect outside training.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("GaussianNoise adds normal numbers in training only") {
  for (const char *policy : {"float32", "mixed_float16"}) {
    GaussianNoise layer(0.5, {.seed = 4, .dtype = policy});
    Tensor x = Tensor::full({200, 500}, 3);
    CHECK(numbers(layer(x)) == std::vector<double>(100000, 3.0));
    Tensor y = layer(x, {.training = true});
    CHECK(y.dtype() == DTypePolicy(policy).compute_dtype());
    double mean = 0, variance = 0, fourth = 0, within = 0;
    for (double v : numbers(y)) {
      double d = (v - 3) / 0.5;
      mean += d / 1e5;
      variance += d * d / 1e5;
      fourth += d * d * d * d / 1e5;
      within += (std::abs(d) < 1 ? 1.0 : 0.0) / 1e5;
    }
    CHECK(std::abs(mean) < 0.015);
    CHECK(std::abs(variance - 1) < 0.02);
    CHECK(std::abs(fourth - 3) < 0.15);
    CHECK(std::abs(within - 0.6827) < 0.01);
    CHECK(numbers(layer(x, {.training = true})) != numbers(y));
    GaussianNoise same(0.5, {.seed = 4, .dtype = policy});
    (void)same(x);
    CHECK(numbers(same(x, {.training = true})) == numbers(y));
  }
}

TEST_CASE("GaussianNoise takes a deviation between 0 and 1") {
  CHECK_THAT(errorOf([] { GaussianNoise(1.5); }), Contains("ValueError") && Contains("Received: stddev=1.5"));
  CHECK_THAT(errorOf([] { GaussianNoise(-0.1); }), Contains("between 0 and 1"));
  Tensor x = Tensor::ones({2, 2});
  CHECK(numbers(GaussianNoise(0.0)(x, {.training = true})) == numbers(x));
}

TEST_CASE("GaussianDropout multiplies by normal numbers around 1 in training only") {
  for (const char *policy : {"float32", "mixed_bfloat16"}) {
    const GaussianDropout layer(0.2, {.seed = 4, .dtype = policy}); // a standard deviation of 0.5
    const Tensor x = Tensor::full({200, 500}, 4);
    CHECK(numbers(layer(x)) == std::vector<double>(100000, 4.0));
    const Tensor y = layer(x, {.training = true});
    CHECK(y.dtype() == DTypePolicy(policy).compute_dtype());
    double mean = 0, variance = 0, within = 0;
    for (const double v : numbers(y)) {
      const double d = (v / 4 - 1) / 0.5;
      mean += d / 1e5;
      variance += d * d / 1e5;
      within += (std::abs(d) < 1 ? 1.0 : 0.0) / 1e5;
    }
    CHECK(std::abs(mean) < 0.015);
    CHECK(std::abs(variance - 1) < 0.02);
    CHECK(std::abs(within - 0.6827) < 0.01);
    CHECK(numbers(layer(x, {.training = true})) != numbers(y));
  }
  const Tensor ones = Tensor::ones({2, 2});
  CHECK(numbers(GaussianDropout(0.0)(ones, {.training = true})) == numbers(ones));
  for (const double rate : {-0.1, 1.0, static_cast<double>(NAN)})
    CHECK_THAT(errorOf([&] { GaussianDropout{rate}; }),
               Contains("ValueError: Invalid value received for argument `rate`"));
}
