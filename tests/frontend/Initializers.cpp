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
