// Initializers: moments, bounds, seeds.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Arguments.h"
#include "halftone/Error.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;

namespace {
struct Moments {
  double mean = 0, variance = 0, largest = 0;
};
Moments momentsOf(const Initializer &initializer, const Shape &shape) {
  std::vector<float> values = initializer(shape, float32, 7).to_vector<float>();
  Moments m;
  for (float v : values) {
    m.mean += v / static_cast<double>(values.size());
    m.largest = std::max(m.largest, std::abs(static_cast<double>(v)));
  }
  for (float v : values)
    m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  return m;
}
} // namespace

TEST_CASE("scaling initializers have Keras's variance") {
  Shape shape{300, 500};
  struct Row {
    const char *name;
    double variance;
  };
  for (Row row : {Row{"glorot_uniform", 2.0 / 800}, Row{"glorot_normal", 2.0 / 800}, Row{"he_normal", 2.0 / 300},
                  Row{"he_uniform", 2.0 / 300}, Row{"lecun_normal", 1.0 / 300}, Row{"lecun_uniform", 1.0 / 300}}) {
    INFO(row.name);
    Moments m = momentsOf(row.name, shape);
    CHECK(std::abs(m.mean) < 1e-3);
    CHECK(m.variance == Approx(row.variance).epsilon(0.03));
  }
  CHECK(momentsOf("glorot_uniform", shape).largest <= std::sqrt(6.0 / 800));
  CHECK(momentsOf("truncated_normal", shape).largest <= 0.1 + 1e-6);
  CHECK(momentsOf("random_uniform", shape).largest <= 0.05);
}

TEST_CASE("the seed decides an initializer's values") {
  Initializer a = initializers::GlorotUniform({.seed = 3}), b = initializers::GlorotUniform({.seed = 4});
  CHECK(a({4, 4}, float32, 1).to_vector<float>() == a({4, 4}, float32, 2).to_vector<float>());
  CHECK(a({4, 4}, float32, 1).to_vector<float>() != b({4, 4}, float32, 1).to_vector<float>());
  CHECK(initializers::Constant(2.5)({2}, bfloat16, 0).dtype() == bfloat16);
  CHECK(initializers::RandomNormal({.stddev = 2.0})({1000}, float64, 0).dtype() == float64);
  CHECK_THROWS_AS(Initializer("normalish"), Error);
}

TEST_CASE("An initializer read from its config draws the same values") {
  const Initializer all[] = {"zeros",
                             "ones",
                             "random_uniform",
                             "he_normal",
                             "lecun_uniform",
                             initializers::Constant(2.5),
                             initializers::RandomNormal({1, 2, 3}),
                             initializers::TruncatedNormal({.stddev = 0.5}),
                             initializers::GlorotNormal({.seed = 7})};
  for (const Initializer &initializer : all) {
    const Config saved = initializers::serialize(initializer);
    INFO(saved.dump());
    const Initializer again = initializers::deserialize(saved);
    CHECK(initializers::serialize(again).dump() == saved.dump());
    CHECK(again({4, 3}, float32, 5).to_vector<float>() == initializer({4, 3}, float32, 5).to_vector<float>());
  }
  const auto read = [](const char *text) { (void)initializers::deserialize(Config::parse(text)); };
  CHECK_THROWS_WITH(read(R"({"class_name":"Zeros","config":{"value":1}})"),
                    Catch::Matchers::Contains("Zeros: Argument(s) not recognized"));
  CHECK_THROWS_WITH(read(R"({"class_name":"HeNormal","config":{"seed":1,"input_axes":[0]}})"),
                    Catch::Matchers::Contains("`input_axes` is [0]: it can only be null"));
}
