// Compares reductions over windows, and window products with few channels, with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "OpChecks.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::test;

namespace {

/// Windows of an image 2x13x11x`channels` with 3x2 taps: their parameters as attribute lists, and the output extents.
struct Windows {
  std::string stride, dilation, low, hole;
  int64_t places[2];
};

/// The sum of a window's products with a kernel, its maximum, and the sum over examples and output positions of its
/// products with a tensor of that shape.
std::string reductions(const Windows &windows, const std::string &element, int64_t channels) {
  return fmt::format(
      R"(func.func @main(%x: tensor<2x13x11x{5}x{4}> {{halftone.name = "x"}}, %w: tensor<3x2x{5}x{4}> {{halftone.name = "w"}}, %dy: tensor<2x{6}x{7}x{5}x{4}> {{halftone.name = "dy"}})
    -> (tensor<2x{6}x{7}x{5}x{4}> {{halftone.name = "y"}}, tensor<2x{6}x{7}x{5}x{4}> {{halftone.name = "m"}}, tensor<3x2x{5}x{4}> {{halftone.name = "dw"}}) {{
  %0 = halftone.window %x {{stride = array<i64: {0}>, dilation = array<i64: {1}>, low = array<i64: {2}>, hole = array<i64: {3}>}} : tensor<2x13x11x{5}x{4}> to tensor<2x{6}x{7}x3x2x{5}x{4}>
  %1 = halftone.broadcast %w {{axes = array<i64: 3, 4, 5>}} : tensor<3x2x{5}x{4}> to tensor<2x{6}x{7}x3x2x{5}x{4}>
  %2 = halftone.mul %0, %1 : tensor<2x{6}x{7}x3x2x{5}x{4}>
  %3 = halftone.reduce sum %2 {{axes = array<i64: 3, 4>}} : tensor<2x{6}x{7}x3x2x{5}x{4}> -> tensor<2x{6}x{7}x{5}x{4}>
  %4 = halftone.window %x {{stride = array<i64: {0}>, dilation = array<i64: {1}>, low = array<i64: {2}>, hole = array<i64: {3}>, fill = -1.5 : {4}}} : tensor<2x13x11x{5}x{4}> to tensor<2x{6}x{7}x3x2x{5}x{4}>
  %5 = halftone.reduce max %4 {{axes = array<i64: 3, 4>}} : tensor<2x{6}x{7}x3x2x{5}x{4}> -> tensor<2x{6}x{7}x{5}x{4}>
  %6 = halftone.broadcast %dy {{axes = array<i64: 0, 1, 2, 5>}} : tensor<2x{6}x{7}x{5}x{4}> to tensor<2x{6}x{7}x3x2x{5}x{4}>
  %7 = halftone.mul %0, %6 : tensor<2x{6}x{7}x3x2x{5}x{4}>
  %8 = halftone.reduce sum %7 {{axes = array<i64: 0, 1, 2>}} : tensor<2x{6}x{7}x3x2x{5}x{4}> -> tensor<3x2x{5}x{4}>
  return %3, %5, %8 : tensor<2x{6}x{7}x{5}x{4}>, tensor<2x{6}x{7}x{5}x{4}>, tensor<3x2x{5}x{4}>
}})",
      windows.stride, windows.dilation, windows.low, windows.hole, element, channels, windows.places[0],
      windows.places[1]);
}

/// The product of a window with a kernel of five filters, and of the window with a tensor over its output positions.
std::string products(const Windows &windows, const std::string &element, int64_t channels) {
  return fmt::format(
      R"(func.func @main(%x: tensor<2x13x11x{5}x{4}> {{halftone.name = "x"}}, %w: tensor<3x2x{5}x5x{4}> {{halftone.name = "w"}}, %dy: tensor<2x{6}x{7}x5x{4}> {{halftone.name = "dy"}})
    -> (tensor<2x{6}x{7}x5x{4}> {{halftone.name = "y"}}, tensor<3x2x{5}x5x{4}> {{halftone.name = "dw"}}) {{
  %0 = halftone.window %x {{stride = array<i64: {0}>, dilation = array<i64: {1}>, low = array<i64: {2}>, hole = array<i64: {3}>}} : tensor<2x13x11x{5}x{4}> to tensor<2x{6}x{7}x3x2x{5}x{4}>
  %1 = halftone.contract %0, %w {{lhs_contract = array<i64: 3, 4, 5>, rhs_contract = array<i64: 0, 1, 2>}} : (tensor<2x{6}x{7}x3x2x{5}x{4}>, tensor<3x2x{5}x5x{4}>) -> tensor<2x{6}x{7}x5x{4}>
  %2 = halftone.contract %0, %dy {{lhs_contract = array<i64: 0, 1, 2>, rhs_contract = array<i64: 0, 1, 2>}} : (tensor<2x{6}x{7}x3x2x{5}x{4}>, tensor<2x{6}x{7}x5x{4}>) -> tensor<3x2x{5}x5x{4}>
  return %1, %2 : tensor<2x{6}x{7}x5x{4}>, tensor<3x2x{5}x5x{4}>
}})",
      windows.stride, windows.dilation, windows.low, windows.hole, element, channels, windows.places[0],
      windows.places[1]);
}

const Windows windows[] = {
    {"1, 1", "1, 1", "1, 0", "1, 1", {13, 11}},     // same size
    {"2, 1", "1, 3", "0, 0", "1, 1", {6, 8}},       // no tap is outside
    {"1, 1", "-1, -1", "-1, -1", "1, 1", {13, 11}}, // flipped
    {"1, 2", "1, -2", "1, 3", "2, 1", {20, 9}},     // with base dilation
    {"3, 3", "2, 1", "5, 40", "1, 1", {4, 5}},      // all taps are outside along an axis
};

} // namespace

TEMPLATE_TEST_CASE("Reductions over windows compute what the interpreter says", "", Host, Full<V2>, Full<V3>, Full<V4>,
                   Zen4) {
  if (!TestType::runs()) {
    WARN(TestType::target << " does not run here");
    return;
  }
  for (const Windows &each : windows) {
    checkProgram(reductions(each, "f32", 3), TestType::target, false, 1);
    checkProgram(reductions(each, "f32", 117), TestType::target, false,
                 2); // contiguous vectors: eight, four, one, and a remainder
    checkProgram(reductions(each, "bf16", 20), TestType::target, false, 3);
  }
  checkProgram(reductions(windows[0], "f32", 20), TestType::target, true, 4);
}

TEMPLATE_TEST_CASE("Products of windows of few channels compute what the interpreter says", "", Host, Full<V2>,
                   Full<V3>, Full<V4>, Zen4) {
  if (!TestType::runs()) {
    WARN(TestType::target << " does not run here");
    return;
  }
  for (const Windows &each : windows)
    for (int64_t channels : {1, 3, 6}) {
      checkProgram(products(each, "f32", channels), TestType::target, false, 1);
      checkProgram(products(each, "f16", channels), TestType::target, false, 2);
    }
  checkProgram(products(windows[0], "f32", 1), TestType::target, true, 3);
}

TEST_CASE("The gradient of a convolution's sum by its kernel, made in parts, computes what the interpreter says") {
  checkProgram(R"(
halftone.variable @w : tensor<3x3x1x3x5xf32> {path = "w"}
func.func @main(%x: tensor<2x70x66x1x3xf32> {halftone.name = "x"}) -> (tensor<3x3x1x3x5xf32> {halftone.name = "dw"}) {
  %w = halftone.read @w : tensor<3x3x1x3x5xf32>
  %y = halftone.convolution %x, %w {stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 1>, hole = array<i64: 1, 1>}
      : (tensor<2x70x66x1x3xf32>, tensor<3x3x1x3x5xf32>) -> tensor<2x70x66x1x5xf32>
  %s = halftone.reduce sum %y {axes = array<i64: 0, 1, 2, 3, 4>} : tensor<2x70x66x1x5xf32> -> tensor<f32>
  %g = halftone.gradient %s of [@w] : tensor<f32> -> tensor<3x3x1x3x5xf32>
  return %g : tensor<3x3x1x3x5xf32>
})",
               "host", false, 5);
}

TEST_CASE("Products of windows in pairs compute what the interpreter says") {
  if (!Zen4::runs()) {
    WARN(Zen4::target << " does not run here");
    return;
  }
  for (const Windows &each : windows)
    for (int64_t channels : {3, 7, 16})
      checkProgram(products(each, "bf16", channels), Zen4::target, false, 4);
}
