// The semantics of windows and convolutions: values by hand, and plain loops over random shapes and parameters.
// SPDX-License-Identifier: Apache-2.0
#include "Modules.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

using Row = std::vector<double>;
using Ints = std::vector<int64_t>;

namespace {

std::string array(const Ints &values) { return fmt::format("array<i64: {}>", fmt::join(values, ", ")); }

struct Steps {
  Ints stride, dilation, low, hole;
  std::string text() const {
    return fmt::format("stride = {}, dilation = {}, low = {}, hole = {}", array(stride), array(dilation), array(low),
                       array(hole));
  }
};

std::string shapeOf(const Ints &extents) { return extents.empty() ? "" : fmt::format("{}x", fmt::join(extents, "x")); }

Ints joined(const std::vector<Ints> &parts) {
  Ints all;
  for (const Ints &part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Calls `visit` with each point of `extents`, in row-major order.
template <class Visit> void forEach(const Ints &extents, Visit visit) {
  Ints point(extents.size(), 0);
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number;
    for (size_t axis = extents.size(); axis-- > 0; rest /= extents[axis])
      point[axis] = rest % extents[axis];
    visit(point);
  }
}

int64_t linear(const Ints &extents, const Ints &point) {
  int64_t at = 0;
  for (size_t axis = 0; axis < extents.size(); ++axis)
    at = at * extents[axis] + point[axis];
  return at;
}

/// One random window over `rank` spatial axes.
struct RandomWindow {
  explicit RandomWindow(std::mt19937 &random) {
    const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
    const auto sign = [&] { return below(2) ? 1 : -1; };
    for (int64_t rank = 1 + below(3); rank > 0; --rank) {
      spatial.push_back(1 + below(5));
      places.push_back(below(4));
      taps.push_back(1 + below(3));
      steps.stride.push_back(sign() * (1 + below(3)));
      steps.dilation.push_back(sign() * (1 + below(2)));
      steps.low.push_back(below(9) - 4);
      steps.hole.push_back(1 + below(3));
    }
  }
  /// The index in the image of a tap; nullopt outside of the image.
  std::optional<Ints> at(const Ints &place, const Ints &tap) const {
    Ints point;
    for (size_t axis = 0; axis < spatial.size(); ++axis) {
      // Found by search, where the interpreter divides.
      std::optional<int64_t> found;
      for (int64_t p = 0; p < spatial[axis]; ++p)
        if (p * steps.hole[axis] ==
            place[axis] * steps.stride[axis] + tap[axis] * steps.dilation[axis] - steps.low[axis])
          found = p;
      if (!found)
        return std::nullopt;
      point.push_back(*found);
    }
    return point;
  }
  Ints spatial, places, taps;
  Steps steps;
};

Row randomRow(std::mt19937 &random, const Ints &extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  Row values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(std::uniform_int_distribution<int>(-64, 64)(random) / 16.0);
  return values;
}

} // namespace

TEST_CASE("A window holds the elements that its taps see, and the fill outside of the image") {
  const TensorData x = reals("1x4x1xf32", {1, 2, 3, 4});
  const std::string steps =
      "stride = array<i64: 2>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>";
  CHECK(
      evaluate("%y = halftone.window %0 {" + steps + "} : tensor<1x4x1xf32> to tensor<1x2x3x1xf32>", "1x2x3x1xf32", {x})
          .low == Row{0, 1, 2, 2, 3, 4});
  CHECK(evaluate("%y = halftone.window %0 {" + steps + ", lowest} : tensor<1x4x1xf32> to tensor<1x2x3x1xf32>",
                 "1x2x3x1xf32", {x})
            .low == Row{-std::numeric_limits<double>::infinity(), 1, 2, 2, 3, 4});
  CHECK(evaluate("%y = halftone.window %0 {" + steps + ", lowest} : tensor<1x1x1xi8> to tensor<1x1x3x1xi8>",
                 "1x1x3x1xi8", {wholes("1x1x1xi8", {7})})
            .integers == Ints{-128, 7, -128});
  CHECK(evaluate("%y = halftone.window %0 {" + steps + ", lowest} : tensor<1x1x1xui8> to tensor<1x1x3x1xui8>",
                 "1x1x3x1xui8", {wholes("1x1x1xui8", {7})})
            .integers == Ints{0, 7, 0});
  CHECK(evaluate("%y = halftone.window %0 {" + steps + ", lowest} : tensor<1x1x1xf8E4M3FN> to tensor<1x1x3x1xf8E4M3FN>",
                 "1x1x3x1xf8E4M3FN", {reals("1x1x1xf8E4M3FN", {1.5})})
            .low == Row{-448, 1.5, -448});
}

TEST_CASE("Windows of random steps hold the elements that a search finds") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const RandomWindow window(random);
    const bool diagonal = round % 2;
    const int64_t examples = 1 + round % 2, channels = round % 3;
    const Ints from = joined({{examples}, window.spatial, diagonal ? window.taps : Ints{}, {channels}});
    const Ints to = joined({{examples}, window.places, window.taps, {channels}});
    const Row values = randomRow(random, from);
    const std::string text = fmt::format("%y = halftone.window %0 {{{}{}}} : tensor<{}f32> to tensor<{}f32>",
                                         window.steps.text(), diagonal ? ", diagonal" : "", shapeOf(from), shapeOf(to));
    INFO(text);
    Row expected;
    forEach({examples}, [&](const Ints &n) {
      forEach(window.places, [&](const Ints &place) {
        forEach(window.taps, [&](const Ints &tap) {
          const auto at = window.at(place, tap);
          forEach({channels}, [&](const Ints &c) {
            expected.push_back(at ? values[linear(from, joined({n, *at, diagonal ? tap : Ints{}, c}))] : 0);
          });
        });
      });
    });
    CHECK(evaluate(text, shapeOf(to) + "f32", {reals(shapeOf(from) + "f32", values)}).low == expected);
  }
}

TEST_CASE("Convolutions of random steps are the sums that a search finds") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const RandomWindow window(random);
    const int64_t examples = 1 + round % 2, groups = 1 + round % 3, channels = round % 4, filters = 1 + round % 2;
    const Ints x = joined({{examples}, window.spatial, {groups, channels}}),
               w = joined({window.taps, {groups, channels, filters}}),
               y = joined({{examples}, window.places, {groups, filters}});
    const Row image = randomRow(random, x), kernel = randomRow(random, w);
    const std::string text =
        fmt::format("%y = halftone.convolution %0, %1 {{{}}} : (tensor<{}f64>, tensor<{}f64>) -> tensor<{}f64>",
                    window.steps.text(), shapeOf(x), shapeOf(w), shapeOf(y));
    INFO(text);
    Row expected; // sums of few multiples of 1 / 256, which are exact in any order
    forEach({examples}, [&](const Ints &n) {
      forEach(window.places, [&](const Ints &place) {
        forEach({groups, filters}, [&](const Ints &gf) {
          double sum = 0;
          forEach(window.taps, [&](const Ints &tap) {
            if (const auto at = window.at(place, tap))
              forEach({channels}, [&](const Ints &c) {
                sum += image[linear(x, joined({n, *at, {gf[0]}, c}))] *
                       kernel[linear(w, joined({tap, {gf[0]}, c, {gf[1]}}))];
              });
          });
          expected.push_back(sum);
        });
      });
    });
    CHECK(
        evaluate(text, shapeOf(y) + "f64", {reals(shapeOf(x) + "f64", image), reals(shapeOf(w) + "f64", kernel)}).low ==
        expected);
  }
}

TEST_CASE("A convolution accumulates in f32, rounds once, and multiplies the zeros outside of the image") {
  const std::string steps =
      "{stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>}";
  const TensorData x = reals("1x3x1x1xf16", {2048, 1, 1}), ones = reals("3x1x1x1xf16", {1, 1, 1});
  const auto type = [](const std::string &result) {
    return " : (tensor<1x3x1x1xf16>, tensor<3x1x1x1xf16>) -> tensor<1x3x1x1x" + result + ">";
  };
  CHECK(evaluate("%y = halftone.convolution %0, %1 " + steps + type("f32"), "1x3x1x1xf32", {x, ones}).low ==
        Row{2049, 2050, 2});
  CHECK(evaluate("%y = halftone.convolution %0, %1 " + steps + type("f16"), "1x3x1x1xf16", {x, ones}).low ==
        Row{2048, 2050, 2});
  const double infinity = std::numeric_limits<double>::infinity();
  const TensorData infinite = reals("3x1x1x1xf16", {infinity, 1, 1});
  CHECK(std::isnan(
      evaluate("%y = halftone.convolution %0, %1 " + steps + type("f32"), "1x3x1x1xf32", {x, infinite}).low[0]));
  // Compiled code may omit the zero.
  const TensorData any =
      evaluate("%y = halftone.convolution %0, %1 " + steps + type("f32"), "1x3x1x1xf32", {x, infinite}, true);
  CHECK(any.contains(reals("1x3x1x1xf32", {2049, infinity, infinity}), 0));
  CHECK(any.contains(reals("1x3x1x1xf32", {2049, infinity, infinity}), 1));
  CHECK_FALSE(any.contains(reals("1x3x1x1xf32", {2049, 3, infinity}), 1));
}

TEST_CASE("Sums of products of int8 are int32") {
  CHECK(evaluate(
            "%y = halftone.convolution %0, %1 {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, "
            "hole = array<i64: 1>} : (tensor<1x2x1x2xi8>, tensor<2x1x2x1xi8>) -> tensor<1x1x1x1xi32>",
            "1x1x1x1xi32",
            {wholes("1x2x1x2xi8", {-128, -128, 127, 127}), wholes("2x1x2x1xi8", {-128, -128, -128, 127})})
            .integers == Ints{16384 + 16384 - 16256 + 16129});
}
