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

TEST_CASE("VarianceScaling takes its fan and its distribution as Keras does") {
  using initializers::Distribution;
  using initializers::FanMode;
  using initializers::VarianceScaling;
  const Shape shape{300, 500};
  const auto variance = [&](FanMode mode, Distribution distribution, double scale) {
    return momentsOf(VarianceScaling({.scale = scale, .mode = mode, .distribution = distribution, .seed = 3}), shape)
        .variance;
  };
  CHECK(variance(FanMode::fan_in, Distribution::truncated_normal, 1) == Approx(1.0 / 300).epsilon(0.03));
  CHECK(variance(FanMode::fan_out, Distribution::untruncated_normal, 3) == Approx(3.0 / 500).epsilon(0.03));
  CHECK(variance(FanMode::fan_avg, Distribution::uniform, 2) == Approx(2.0 / 400).epsilon(0.03));
  CHECK(momentsOf(VarianceScaling({.distribution = Distribution::untruncated_normal}), shape).largest >
        3 / std::sqrt(300.0));
  CHECK_THROWS_WITH(VarianceScaling({.scale = 0}), Catch::Matchers::Contains("`scale` must be positive"));
  CHECK(momentsOf(initializers::RandomUniform({.minval = -2, .maxval = 1}), shape).mean == Approx(-0.5).margin(0.01));
}

TEST_CASE("Orthogonal gives orthonormal columns or rows, Identity a diagonal; both times their gain") {
  const Initializer wide = initializers::Orthogonal({.gain = 3, .seed = 1});
  for (const Shape &shape : {Shape{2, 3, 4}, Shape{3, 7}, Shape{5, 5}, Shape{1, 1}}) {
    INFO(shape.str());
    const int64_t columns = shape[-1], rows = shape.elements() / columns, count = std::min(rows, columns);
    const std::vector<double> w = wide(shape, float64, 0).to_vector<double>();
    const auto at = [&](int64_t vector, int64_t place) {
      return w[static_cast<size_t>(rows < columns ? vector * columns + place : place * columns + vector)];
    };
    for (int64_t a = 0; a < count; ++a)
      for (int64_t b = 0; b < count; ++b) {
        double product = 0;
        for (int64_t place = 0; place < std::max(rows, columns); ++place)
          product += at(a, place) * at(b, place);
        CHECK(product == Approx(a == b ? 9.0 : 0.0).margin(1e-12));
      }
  }
  CHECK(initializers::Identity(2)({2, 3}, float32, 0).to_vector<float>() == std::vector<float>{2, 0, 0, 0, 2, 0});
  CHECK(wide({0, 3}, float32, 0).to_vector<float>().empty());
  CHECK_THROWS_WITH(wide({3}, float32, 0), Catch::Matchers::Contains("at least two-dimensional"));
  CHECK_THROWS_WITH(initializers::Identity()({2}, float32, 0),
                    Catch::Matchers::Contains("only be used for 2D matrices"));
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
  const Initializer all[] = {
      "zeros",
      "ones",
      "random_uniform",
      "he_normal",
      "lecun_uniform",
      initializers::Constant(2.5),
      initializers::RandomNormal({1, 2, 3}),
      initializers::TruncatedNormal({.stddev = 0.5}),
      initializers::GlorotNormal({.seed = 7}),
      initializers::LecunNormal({.seed = 8}),
      initializers::LecunUniform({.seed = 9}),
      initializers::RandomUniform({.minval = 0, .maxval = 2, .seed = 4}),
      initializers::Orthogonal({.gain = 0.5, .seed = 2}),
      initializers::Identity(0.25),
      initializers::VarianceScaling({2, initializers::FanMode::fan_out, initializers::Distribution::uniform, 5})};
  for (const Initializer &initializer : all) {
    const Config saved = initializers::serialize(initializer);
    INFO(saved.dump());
    const Initializer again = initializers::deserialize(saved);
    CHECK(initializers::serialize(again).dump() == saved.dump());
    CHECK(again({4, 3}, float32, 5).to_vector<float>() == initializer({4, 3}, float32, 5).to_vector<float>());
  }
  CHECK(Initializer("OrthogonalInitializer").name() == "Orthogonal");
  CHECK(Initializer("one").name() == "Ones");
  const auto read = [](const char *text) { (void)initializers::deserialize(Config::parse(text)); };
  CHECK_THROWS_WITH(read(R"({"class_name":"Zeros","config":{"value":1}})"),
                    Catch::Matchers::Contains("Zeros: Argument(s) not recognized"));
  CHECK_THROWS_WITH(read(R"({"class_name":"HeNormal","config":{"seed":1,"input_axes":[0]}})"),
                    Catch::Matchers::Contains("`input_axes` is [0]: it can only be null"));
  CHECK_THROWS_WITH(read(R"({"class_name":"VarianceScaling","config":{"scale":-1}})"),
                    Catch::Matchers::Contains("`scale` must be positive"));
}
