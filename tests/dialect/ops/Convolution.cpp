// Compares gradients of windows and convolutions with finite differences, and gradients of these gradients.
// SPDX-License-Identifier: Apache-2.0
#include "../Modules.h"
#include <fmt/format.h>
#include <random>

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

namespace {

TensorData random(const std::string &type, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<double> values(static_cast<size_t>(tensorType(type).getNumElements()));
  for (double &value : values)
    value = std::uniform_real_distribution<double>(-1, 1)(generator);
  return reals(type, values);
}

struct Steps {
  const char *text;
  std::string image, kernel, result; // extents along the spatial axes
};

// Same and valid padding, strides, dilations, flips, base dilations; one to three spatial axes.
const std::vector<Steps> cases = {
    {"stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>", "5x", "3x", "5x"},
    {"stride = array<i64: 2>, dilation = array<i64: 2>, low = array<i64: 1>, hole = array<i64: 1>", "7x", "2x", "4x"},
    {"stride = array<i64: 3>, dilation = array<i64: -1>, low = array<i64: -2>, hole = array<i64: 2>", "4x", "3x", "3x"},
    {"stride = array<i64: -1>, dilation = array<i64: 1>, low = array<i64: -3>, hole = array<i64: 1>", "5x", "2x", "4x"},
    {"stride = array<i64: 2, 1>, dilation = array<i64: 1, 2>, low = array<i64: 1, 0>, hole = array<i64: 1, 1>", "4x5x",
     "3x2x", "2x3x"},
    {"stride = array<i64: 1, 2, 1>, dilation = array<i64: 1, 1, 1>, low = array<i64: 0, 1, 1>, hole = array<i64: 1, 1, "
     "2>",
     "2x3x2x", "2x2x2x", "1x2x3x"}};

} // namespace

TEST_CASE("The gradients of a convolution agree with finite differences") {
  for (const Steps &each : cases)
    for (const char *groups : {"1x", "2x"}) {
      const std::string x = "2x" + each.image + groups + "2xf64", w = each.kernel + groups + "2x3xf64",
                        y = "2x" + each.result + groups + "3xf64";
      const std::string text = fmt::format(
          "func.func @main(%x: tensor<{0}> {{halftone.name = \"x\"}}, %w: tensor<{1}> {{halftone.name = \"w\"}}) -> "
          "(tensor<{2}> {{halftone.name = \"y\"}}) {{\n  %y = halftone.convolution %x, %w {{{3}}} : (tensor<{0}>, "
          "tensor<{1}>) -> tensor<{2}>\n  return %y : tensor<{2}>\n}}",
          x, w, y, each.text);
      INFO(text);
      CHECK(gradientError(text, {random(x, 1), random(w, 2)}) < 1e-6);
    }
}

TEST_CASE("The gradient of a window agrees with finite differences") {
  for (const Steps &each : cases)
    for (const bool diagonal : {false, true}) {
      const std::string x = "2x" + each.image + (diagonal ? each.kernel : "") + "2xf64",
                        y = "2x" + each.result + each.kernel + "2xf64";
      const std::string text = fmt::format(
          "func.func @main(%x: tensor<{0}> {{halftone.name = \"x\"}}) -> (tensor<{1}> {{halftone.name = \"y\"}}) {{\n"
          "  %y = halftone.window %x {{{2}{3}}} : tensor<{0}> to tensor<{1}>\n  return %y : tensor<{1}>\n}}",
          x, y, each.text, diagonal ? ", diagonal" : "");
      INFO(text);
      CHECK(gradientError(text, {random(x, 3)}) < 1e-6);
    }
}
