// Layer, group, root-mean-square and unit normalization: Keras's values, dtypes and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

/// The rows of a (rows, columns) tensor, normalized in double.
std::vector<double> normalizedRows(const std::vector<double> &x, size_t columns, double epsilon) {
  std::vector<double> y;
  for (size_t row = 0; row < x.size(); row += columns) {
    double mean = 0, variance = 0;
    for (size_t i = row; i < row + columns; ++i)
      mean += x[i] / static_cast<double>(columns);
    for (size_t i = row; i < row + columns; ++i)
      variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(columns);
    for (size_t i = row; i < row + columns; ++i)
      y.push_back((x[i] - mean) / std::sqrt(variance + epsilon));
  }
  return y;
}
Tensor ramp(const Shape &shape) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>((i * 37) % 23) * 0.25f - 2.0f;
  return Tensor(std::move(data), shape);
}
/// The given values with gamma 2 and beta 1.
std::vector<double> scaled(std::vector<double> y) {
  for (double &v : y)
    v = 2 * v + 1;
  return y;
}
const Initializer two = initializers::Constant(2), one = initializers::Constant(1);

} // namespace

TEST_CASE("LayerNormalization over the last axis, over several, with and without parameters") {
  Tensor x = ramp({3, 4, 5});
  CHECK(near(numbers(LayerNormalization()(x)), normalizedRows(numbers(x), 5, 1e-3), 1e-5));
  CHECK(near(numbers(LayerNormalization(
                 {.axis = {-1, 1}, .epsilon = 0.5, .beta_initializer = one, .gamma_initializer = two})(x)),
             scaled(normalizedRows(numbers(x), 20, 0.5)), 1e-5));
  CHECK(near(numbers(LayerNormalization({.axis = 1, .center = false, .scale = false})(x.reshape({3, 20}))),
             normalizedRows(numbers(x), 20, 1e-3), 1e-5));
  LayerNormalization layer({.axis = {-1, 1}});
  CHECK_THAT(layer.get_config().dump(), Contains("\"axis\":[-1,1]"));
  (void)layer(x);
  CHECK_THAT(layer.get_config().dump(), Contains("\"axis\":[1,2]")); // sorted and counted from the front
  CHECK(layer.variables()[0].name() == "gamma");
  CHECK(layer.variables()[1].name() == "beta");
  CHECK(layer.variables()[0].shape() == Shape{4, 5});
  CHECK(LayerNormalization({.center = false}).variables().empty());
}

TEST_CASE("Normalizations of float64 compute in it") {
  const std::vector<double> x{0.3, -1.7, 2.5, 0.9};
  const Tensor row(x, {1, 4});
  double square = 0;
  for (double v : x)
    square += v * v / 4;
  auto expected = [&](double shift, double scale) {
    std::vector<double> y;
    for (double v : x)
      y.push_back((v - shift) * scale);
    return y;
  };
  const std::vector<double> centered = normalizedRows(x, 4, 1e-3);
  CHECK(near(numbers(LayerNormalization({.dtype = "float64"})(row)), centered, 1e-14));
  CHECK(near(numbers(GroupNormalization({.groups = 1, .dtype = "float64"})(row)), centered, 1e-14));
  CHECK(near(numbers(RMSNormalization({.dtype = "float64"})(row)), expected(0, 1 / std::sqrt(square + 1e-6)), 1e-14));
  CHECK(near(numbers(BatchNormalization({.dtype = "float64"})(row)), expected(0, 1 / std::sqrt(1 + 1e-3)), 1e-14));
}

// policies 11.5
TEST_CASE("A float32 input of 70000 is no infinity in layer and group normalization") {
  Tensor x = Tensor::full({2, 4, 8}, 70000);
  for (const Layer &layer : std::vector<Layer>{LayerNormalization({.dtype = "mixed_float16"}),
                                               GroupNormalization({.groups = 2, .dtype = "mixed_float16"})}) {
    Tensor y = layer(x);
    CHECK(y.dtype() == float16);
    CHECK(numbers(y) == std::vector<double>(64, 0.0));
    CHECK(layer.variables()[0].dtype() == float32);
  }
  Tensor rms = RMSNormalization({.dtype = "mixed_float16"})(x);
  CHECK(std::isnan(numbers(rms)[0])); // autocast to inf, as in Keras
}

// policies 11.5
TEST_CASE("Weights of layer normalization are not rounded, the scale of RMSNormalization is") {
  const double fine = 1.0 + 1.0 / 4096; // bfloat16 has 8 bits: 1
  Tensor x({-1, 1}, {1, 2});
  LayerNormalization layer(
      {.epsilon = 0.0, .gamma_initializer = initializers::Constant(fine), .dtype = "mixed_bfloat16"});
  RMSNormalization rms({.epsilon = 0.0, .dtype = "mixed_bfloat16"});
  (void)layer(x);
  (void)rms(x);
  for (const Variable &variable : rms.variables())
    variable.assign(Tensor::full({2}, fine));
  auto inside = [](const Layer &l, const Tensor &in) { // the result before rounding
    return runOnce(Run::compiled, {in}, [&](const std::vector<Value> &v) { return std::vector<Value>{l(v[0])}; })[0];
  };
  CHECK(inside(layer, x).dtype() == bfloat16);
  // The casts in the graph show where the result is rounded.
  auto casts = [&](const Layer &l) {
    Sequential model({Input({2}), l});
    std::string text = model.ir(Stage::cast, {.program = Program::predict, .batch_size = 1});
    return text.find("origin = \"variable read\"") != std::string::npos;
  };
  CHECK_FALSE(casts(layer));
  CHECK(casts(rms));
}

TEST_CASE("RMSNormalization gives Keras's numbers") {
  CHECK(near(numbers(RMSNormalization()(Tensor({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 10}))),
             {0, .18731716, .37463433, .5619515, .74926865, .9365858, 1.123903, 1.3112202, 1.4985373, 1.6858544}));
  RMSNormalization both({.axis = {1, 2}});
  CHECK(near(numbers(both(Tensor({1, 2, 3, 4}, {1, 2, 2}))), {.36514837, .73029674, 1.0954451, 1.4605935}, 1e-5));
  CHECK(both.variables()[0].shape() == Shape{2, 2});
  CHECK(RMSNormalization()(Tensor::of<int32_t>({3, 4}, {1, 2})).dtype() == float32);
}

TEST_CASE("GroupNormalization: groups of channels, one a channel, along any axis") {
  Tensor x = ramp({2, 3, 4});
  // With the channels first, groups of channels are rows.
  auto expected = [&](int64_t groups, double epsilon) {
    Tensor lead = runOnce(Run::compiled, {x}, [](const std::vector<Value> &v) {
      return std::vector<Value>{ops::transpose(v[0], {0, 2, 1})};
    })[0];
    std::vector<double> rows = normalizedRows(numbers(lead), static_cast<size_t>(12 / groups), epsilon);
    std::vector<float> data(rows.begin(), rows.end());
    return numbers(runOnce(Run::compiled, {Tensor(std::move(data), {2, 4, 3})}, [](const std::vector<Value> &v) {
      return std::vector<Value>{ops::transpose(v[0], {0, 2, 1})};
    })[0]);
  };
  CHECK(near(numbers(GroupNormalization({.groups = 2})(x)), expected(2, 1e-3), 1e-5));
  CHECK(near(numbers(GroupNormalization({.groups = -1, .beta_initializer = one, .gamma_initializer = two})(x)),
             scaled(expected(4, 1e-3)), 1e-5));
  CHECK(near(numbers(GroupNormalization({.groups = 3, .axis = 1})(x)), normalizedRows(numbers(x), 4, 1e-3), 1e-5));
  CHECK_THAT(errorOf([&] { (void)GroupNormalization({.groups = 5})(x); }),
             Contains("ValueError") && Contains("Number of groups (5) cannot be more than the number of channels (4)"));
  CHECK_THAT(errorOf([&] { (void)GroupNormalization({.groups = 3})(x); }), Contains("must be a multiple of"));
  CHECK_THAT(errorOf([&] { GroupNormalization({.groups = 0}); }), Contains("`groups` must be positive"));
}

TEST_CASE("UnitNormalization: vectors of length 1, zeros stay zeros, in every dtype") {
  for (const char *policy : {"float32", "mixed_float16", "mixed_bfloat16", "float64"}) {
    Tensor y = UnitNormalization({.dtype = policy})(Tensor({3, 4, 0, 0}, {2, 2}));
    CHECK(near(numbers(y), {0.6, 0.8, 0, 0}, 5e-3));
    CHECK(y.dtype() == DTypePolicy(policy).compute_dtype());
  }
}

TEST_CASE("a normalization refuses arguments and inputs that do not fit with one error") {
  CHECK_THAT(errorOf([] { (void)LayerNormalization({.axis = 3})(Tensor::ones({2, 2})); }), Contains("out of range"));
  CHECK_THAT(errorOf([] { (void)LayerNormalization({.axis = {}})(Tensor::ones({2, 2})); }),
             Contains("needs at least one axis"));
  CHECK_THAT(errorOf([] { (void)LayerNormalization()(Input({none})); }), Contains("defined dimension"));
}

TEST_CASE("LayerNormalization with rms_scaling takes no mean off, and has gamma and no beta") {
  const Tensor x = ramp({2, 4});
  const std::vector<double> row = numbers(x);
  std::vector<double> expected;
  for (size_t begin = 0; begin < row.size(); begin += 4) {
    double mean = 0, variance = 0;
    for (size_t i = begin; i < begin + 4; ++i)
      mean += row[i] / 4;
    for (size_t i = begin; i < begin + 4; ++i)
      variance += (row[i] - mean) * (row[i] - mean) / 4;
    for (size_t i = begin; i < begin + 4; ++i)
      expected.push_back(2 * row[i] / std::sqrt(variance + 1e-3));
  }
  const LayerNormalization layer({.scale = false, .gamma_initializer = two, .rms_scaling = true});
  CHECK(near(numbers(layer(x)), expected, 1e-5));
  REQUIRE(layer.weights().size() == 1);
  CHECK(layer.weights()[0].name() == "gamma");
}
