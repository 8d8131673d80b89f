// The loss scales of TensorFlow 2.0.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Legacy.h"
#include "tests/runtime/policy/PolicyFacts.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace halftone;
using namespace halftone::legacy;
using Catch::Matchers::Contains;

// policies 9.6
TEST_CASE("A loss scale is given as a number of at least 1 or as dynamic") {
  CHECK_FALSE(LossScale::get(std::nullopt));
  CHECK(LossScale::get(8.0)->repr() == "FixedLossScale(8.0)");
  CHECK((*LossScale::get("dynamic"))() == 32768.0);
  CHECK(LossScale::get("dynamic")->repr() ==
        "DynamicLossScale(current_loss_scale=32768.0, num_good_steps=0, initial_loss_scale=32768.0, "
        "increment_period=2000, multiplier=2.0)");
  for (const double bad : {0.5, 0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK(failureOf([&] { (void)LossScale::get(bad); }) == "ValueError: loss_scale_value must be at least 1.");
  for (const double bad : {1e39, std::numeric_limits<double>::infinity()})
    CHECK_THAT(failureOf([&] { (void)LossScale::get(bad); }), Contains("loss_scale_value must be finite in float32"));
  for (const DynamicLossScaleArgs &bad : {DynamicLossScaleArgs{.initial_loss_scale = 0.25},
                                          {.initial_loss_scale = -3},
                                          {.increment_period = 0},
                                          {.increment_period = -1},
                                          {.multiplier = 0.5},
                                          {.multiplier = -2},
                                          {.initial_loss_scale = std::numeric_limits<double>::quiet_NaN()},
                                          {.multiplier = std::numeric_limits<double>::quiet_NaN()}})
    CHECK_THAT(failureOf([&] { DynamicLossScale{bad}; }), Contains("ValueError") && Contains("must be at least 1"));
  CHECK_THAT(failureOf([] { DynamicLossScale{{.initial_loss_scale = 1e39}}; }), Contains("finite in float32"));
  CHECK_THAT(failureOf([] { DynamicLossScale{{.multiplier = 1e39}}; }), Contains("finite in float32"));
  CHECK(failureOf([] { (void)LossScale::get("static"); }) ==
        "ValueError: Could not interpret loss scale identifier: static");
}

// policies 9.7
TEST_CASE("A dynamic loss scale grows after a period, shrinks to 1 at least, and stays finite") {
  const DynamicLossScale scale({.initial_loss_scale = 4.0, .increment_period = 3});
  double seen[7];
  for (double &value : seen) {
    CHECK(scale.update(true));
    value = scale();
  }
  CHECK(std::vector<double>(seen, seen + 7) == std::vector<double>{4, 4, 8, 8, 8, 16, 16});
  const LossScale copy = scale;
  CHECK_FALSE(copy.update(false));
  CHECK(scale() == 8.0);
  CHECK(scale.update(true)); // the count restarts
  CHECK(scale.update(true));
  CHECK(scale() == 8.0);
  for (int i = 0; i < 10; ++i)
    CHECK_FALSE(scale.update(false));
  CHECK(scale() == 1.0);
  const DynamicLossScale large({.initial_loss_scale = 2e38, .increment_period = 1});
  CHECK(large.update(true));
  CHECK(large() == Approx(2e38));
  const DynamicLossScale threefold({.initial_loss_scale = 2.0, .increment_period = 1, .multiplier = 3.0});
  CHECK(threefold.update(true));
  CHECK(threefold() == 6.0);
  const FixedLossScale fixed(2);
  CHECK(fixed.update(false));
  CHECK(fixed() == 2.0);
}
