// Discretization: boundaries given and learned, and rejected arguments. KerasStrings.cpp compares bins.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("A number's bin is the count of boundaries that are not above it") {
  const Discretization bins({.bin_boundaries = {0, 1},
                             .num_bins = {},
                             .epsilon = 0.01,
                             .output_mode = "int",
                             .trainable = true,
                             .dtype = "float32",
                             .name = "bins"});
  CHECK(bins(Tensor({-1, 0, 0.5, 1, 9, NAN})).to_vector<int32_t>() == std::vector<int32_t>{0, 1, 1, 2, 2, 2});
}

TEST_CASE("Learned boundaries are quantiles, and a saved model has them") {
  const Discretization bins({.num_bins = 4});
  CHECK(bins.bin_boundaries().empty());
  CHECK_THAT(errorOf([&] { (void)bins(Tensor({1})); }), Contains("call `adapt(dataset)` before"));
  std::vector<float> data(1000);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(i);
  bins.adapt(Dataset(Tensor(data)).batch(100));
  CHECK(near(bins.bin_boundaries(), {250, 500, 750}, 0.02));
  Input x({1});
  const Model model({x}, {bins(x)});
  model.save("bins.keras", {.overwrite = true});
  const Tensor some({{10}, {600}, {900}});
  CHECK(numbers(load_model("bins.keras").predict(some, {.verbose = 0})) == std::vector<double>{0, 2, 3});
  bins.adapt(Tensor(data) * 2.0);
  CHECK(numbers(model.predict(some, {.verbose = 0})) == std::vector<double>{0, 1, 1});
}

TEST_CASE("Arguments that exclude each other are refused") {
  const auto refused = [](const DiscretizationArgs &args) { return errorOf([&] { (void)Discretization(args); }); };
  CHECK_THAT(refused({}), Contains("either `num_bins` or `bin_boundaries`"));
  CHECK_THAT(refused({.bin_boundaries = {1}, .num_bins = 2}), Contains("should not be set"));
  CHECK_THAT(refused({.num_bins = -1}), Contains("greater than or equal to 0"));
  CHECK_THAT(refused({.num_bins = 2, .epsilon = 0}), Contains("`epsilon` must be positive"));
  CHECK_THAT(refused({.num_bins = 2, .epsilon = INFINITY}), Contains("`epsilon` must be positive and finite"));
  CHECK_THAT(refused({.num_bins = 2, .output_mode = "tf_idf"}), Contains("tf_idf"));
  CHECK_THAT(refused({.bin_boundaries = {2, 1}}), Contains("must be ascending"));
  CHECK_THAT(errorOf([] { Discretization({.bin_boundaries = {1}}).adapt(Tensor({1})); }),
             Contains("Cannot adapt a Discretization layer"));
  CHECK_THAT(errorOf([] { Discretization({.num_bins = 0}).adapt(Tensor({1})); }), Contains("at least one bin"));
  const Discretization rough({.num_bins = 2, .epsilon = 1e300});
  rough.adapt(Tensor({1, 2, 3}));
  CHECK(rough.bin_boundaries().empty()); // no quantile is this rough
}
