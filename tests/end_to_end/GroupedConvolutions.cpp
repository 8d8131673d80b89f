// Compares grouped convolutions with few channels, and their gradients, with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "OpChecks.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::test;

namespace {

/// Strides and other parameters of the two spatial axes as attribute lists, and the extents of image, taps and output.
struct Steps {
  std::string stride, dilation, low;
  std::string image, taps, places;
};

struct Groups {
  int64_t groups, channels, filters;
};

/// A convolution with a factor per group and a bias, and the gradients of its weighted sum by the image and by the
/// kernel.
std::string program(const Steps &steps, const Groups &of, const std::string &element) {
  const std::string x = fmt::format("tensor<2x{}x{}x{}x{}>", steps.image, of.groups, of.channels, element),
                    w = fmt::format("tensor<{}x{}x{}x{}x{}>", steps.taps, of.groups, of.channels, of.filters, element),
                    y = fmt::format("tensor<2x{}x{}x{}x{}>", steps.places, of.groups, of.filters, element),
                    b = fmt::format("tensor<{}x{}x{}>", of.groups, of.filters, element),
                    q = fmt::format("tensor<{}x{}>", of.groups, element),
                    sum = element == "f64" ? "tensor<f64>" : "tensor<f32>";
  return fmt::format(
      R"(halftone.variable @x : {0} {{path = "x"}}
halftone.variable @w : {1} {{path = "w"}}
func.func @main(%dy: {2} {{halftone.name = "dy"}}, %b: {3} {{halftone.name = "b"}}, %q: {8} {{halftone.name = "q"}})
    -> ({2} {{halftone.name = "y"}}, {0} {{halftone.name = "dx"}}, {1} {{halftone.name = "dw"}}) {{
  %x = halftone.read @x : {0}
  %w = halftone.read @w : {1}
  %0 = halftone.convolution %x, %w {{stride = array<i64: {5}>, dilation = array<i64: {6}>, low = array<i64: {7}>, hole = array<i64: 1, 1>}} : ({0}, {1}) -> {2}
  %1 = halftone.broadcast %b {{axes = array<i64: 3, 4>}} : {3} to {2}
  %f = halftone.broadcast %q {{axes = array<i64: 3>}} : {8} to {2}
  %g = halftone.mul %0, %f : {2}
  %2 = halftone.add %g, %1 : {2}
  %3 = halftone.mul %0, %dy : {2}
  %s = halftone.reduce sum %3 {{axes = array<i64: 0, 1, 2, 3, 4>}} : {2} -> {4}
  %d:2 = halftone.gradient %s of [@x, @w] : {4} -> ({0}, {1})
  return %2, %d#0, %d#1 : {2}, {0}, {1}
}})",
      x, w, y, b, sum, steps.stride, steps.dilation, steps.low, q);
}

const Steps same = {"1, 1", "1, 1", "1, 1", "7x6", "3x3", "7x6"},
            strided = {"2, 2", "1, 1", "0, 1", "9x8", "3x3", "4x4"},
            inside = {"1, 1", "2, 1", "0, 0", "7x6", "2x3", "5x4"},
            point = {"1, 1", "1, 1", "0, 0", "5x6", "1x1", "5x6"},
            flipped = {"1, 1", "-1, -1", "-1, -1", "6x7", "3x3", "6x7"},
            one = {"1, 1", "1, 1", "0, 0", "1x1", "1x1", "1x1"},
            outside = {"3, 3", "1, 1", "9, 0", "2x5", "3x1", "3x2"},
            nowhere = {"1, 1", "1, 1", "1, 1", "5x4", "3x3", "0x4"},
            untapped = {"1, 1", "1, 1", "1, 1", "5x4", "0x3", "5x4"},
            imageless = {"1, 1", "1, 1", "1, 1", "0x4", "3x3", "1x4"};

/// Whole vectors of lanes, remainders of groups, less than a vector, fewer channels than filters and more, one group.
const Groups whole{8, 4, 4}, large{32, 4, 4}, tail{11, 4, 4}, few{3, 2, 2}, wide{5, 8, 8}, widest{3, 16, 16},
    multiplied{9, 1, 4}, fewer{7, 2, 8}, more{6, 8, 4}, odd{4, 3, 3}, single{1, 4, 4}, three{7, 3, 4}, five{5, 5, 8};

} // namespace

TEMPLATE_TEST_CASE("Convolutions in groups of few channels compute what the interpreter says", "", Host, Full<V2>,
                   Full<V3>, Full<V4>, Zen4) {
  if (!TestType::runs()) {
    WARN(TestType::target << " does not run here");
    return;
  }
  for (const Groups &groups : {whole, tail, few, wide, widest, multiplied, fewer, more, odd, single, three, five})
    checkProgram(program(same, groups, "f32"), TestType::target, false, 1);
  for (const Steps &steps : {strided, inside, point, flipped, outside})
    checkProgram(program(steps, large, "f32"), TestType::target, false, 2);
  for (const Steps &steps : {one, nowhere, untapped, imageless})
    checkProgram(program(steps, whole, "f32"), TestType::target, false, 3);
  checkProgram(program(same, tail, "bf16"), TestType::target, false, 4);
  checkProgram(program(strided, wide, "f16"), TestType::target, false, 5);
  checkProgram(program(same, few, "f64"), TestType::target, false, 5);
  checkProgram(program(same, tail, "f32"), TestType::target, true, 6);
  checkProgram(program(strided, whole, "bf16"), TestType::target, true, 7);
}
