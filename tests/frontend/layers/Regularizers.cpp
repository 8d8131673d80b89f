// Conversion of regularizers to configs and back.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("A regularizer read from its config gives the same penalty") {
  const Tensor weight({1, -2, 3, -4, 5, 0.5f}, {2, 3});
  const Regularizer all[] = {"l1",
                             "l2",
                             "l1_l2",
                             regularizers::L1(0.5),
                             regularizers::L2(0.25),
                             regularizers::L1L2(0.125, 2),
                             regularizers::OrthogonalRegularizer(0.5),
                             regularizers::OrthogonalRegularizer(0.5, regularizers::OrthogonalMode::columns)};
  for (const Regularizer &regularizer : all) {
    const Config saved = regularizers::serialize(regularizer);
    INFO(saved.dump());
    const Regularizer again = regularizers::deserialize(saved);
    CHECK(regularizers::serialize(again).dump() == saved.dump());
    const auto results = runOnce(Run::interpreted, {weight}, [&](const std::vector<Value> &v) {
      return std::vector{regularizer(v[0]), again(v[0])};
    });
    CHECK(numbers(results[0]) == numbers(results[1]));
  }
  CHECK(
      regularizers::serialize(all[7]).dump() ==
      R"({"module":"keras.regularizers","class_name":"OrthogonalRegularizer","config":{"factor":0.5,"mode":"columns"},)"
      R"("registered_name":null})");
}

TEST_CASE("A regularizer's config is checked as its arguments are") {
  const auto read = [](const char *text) {
    return errorOf([&] { (void)regularizers::deserialize(Config::parse(text)); });
  };
  CHECK_THAT(read(R"({"class_name":"L2","config":{"l2":-1}})"), Contains("Invalid value for argument `l2`"));
  CHECK_THAT(read(R"({"class_name":"OrthogonalRegularizer","config":{"mode":"diagonal"}})"),
             Contains("Invalid value for argument `mode`") && Contains("diagonal"));
  CHECK_THAT(read(R"({"class_name":"L3","config":{}})"), Contains("Could not interpret regularizer identifier: L3"));
  CHECK_THAT(read(R"({"class_name":"L1","config":{"l2":1}})"), Contains("L1: Argument(s) not recognized: {'l2': 1}"));
}
