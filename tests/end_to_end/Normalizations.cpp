// Compares sums next to products, and values that several kernels recompute, with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "OpChecks.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::test;

namespace {

/// A convolution of `kernel` taps over 3 images of 23x19 elements, normalized by its sums over examples and positions,
/// relu, and sums of the products of the result with the convolution.
std::string normalized(const std::string &element, int64_t channels, int64_t filters) {
  return fmt::format(
      R"(func.func @main(%x: tensor<3x23x19x1x{1}x{0}> {{halftone.name = "x"}}, %w: tensor<3x2x1x{1}x{2}x{0}> {{halftone.name = "w"}})
    -> (tensor<3x23x19x{2}x{0}> {{halftone.name = "z"}}, tensor<{2}xf32> {{halftone.name = "s"}}, tensor<f32> {{halftone.name = "t"}}, tensor<{2}x{0}> {{halftone.name = "m"}}) {{
  %0 = halftone.convolution %x, %w {{stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 0>, hole = array<i64: 1, 1>}}
      : (tensor<3x23x19x1x{1}x{0}>, tensor<3x2x1x{1}x{2}x{0}>) -> tensor<3x23x19x1x{2}x{0}>
  %1 = halftone.reshape %0 : tensor<3x23x19x1x{2}x{0}> to tensor<3x23x19x{2}x{0}>
  %2 = {3} %1 : tensor<3x23x19x{2}x{0}> {4} tensor<3x23x19x{2}xf32>
  %3 = halftone.reduce sum %2 {{axes = array<i64: 0, 1, 2>}} : tensor<3x23x19x{2}xf32> -> tensor<{2}xf32>
  %n = halftone.constant dense<1311.0> : tensor<{2}xf32>
  %mean = halftone.div %3, %n : tensor<{2}xf32>
  %4 = halftone.broadcast %mean {{axes = array<i64: 3>}} : tensor<{2}xf32> to tensor<3x23x19x{2}xf32>
  %5 = halftone.sub %2, %4 : tensor<3x23x19x{2}xf32>
  %6 = halftone.mul %5, %5 : tensor<3x23x19x{2}xf32>
  %7 = halftone.reduce sum %6 {{axes = array<i64: 0, 1, 2>}} : tensor<3x23x19x{2}xf32> -> tensor<{2}xf32>
  %8 = halftone.div %7, %n : tensor<{2}xf32>
  %9 = halftone.broadcast %8 {{axes = array<i64: 3>}} : tensor<{2}xf32> to tensor<3x23x19x{2}xf32>
  %10 = halftone.mul %5, %9 : tensor<3x23x19x{2}xf32>
  %11 = {5} %10 : tensor<3x23x19x{2}xf32> {4} tensor<3x23x19x{2}x{0}>
  %12 = halftone.relu %11 : tensor<3x23x19x{2}x{0}>
  %13 = halftone.reduce sum %6 {{axes = array<i64: 0, 1, 2, 3>}} : tensor<3x23x19x{2}xf32> -> tensor<f32>
  %14 = halftone.reduce max %1 {{axes = array<i64: 0, 1, 2>}} : tensor<3x23x19x{2}x{0}> -> tensor<{2}x{0}>
  return %12, %7, %13, %14 : tensor<3x23x19x{2}x{0}>, tensor<{2}xf32>, tensor<f32>, tensor<{2}x{0}>
}})",
      element, channels, filters, element == "f32" ? "halftone.reshape" : "halftone.cast", "to",
      element == "f32" ? "halftone.reshape" : "halftone.cast");
}

/// Normalized rows of `rows` x `width` elements between two products. Later ops read the centered and the normalized
/// rows again, and therefore recompute them.
std::string normalizedRows(const std::string &element, int64_t rows, int64_t width) {
  return fmt::format(
      R"(func.func @main(%a: tensor<{1}x5x{0}> {{halftone.name = "a"}}, %u: tensor<5x{2}x{0}> {{halftone.name = "u"}}, %w: tensor<{2}x3x{0}> {{halftone.name = "w"}})
    -> (tensor<{1}x{2}x{0}> {{halftone.name = "d"}}, tensor<{2}x{0}> {{halftone.name = "s"}}) {{
  %x = halftone.contract %a, %u {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}} : (tensor<{1}x5x{0}>, tensor<5x{2}x{0}>) -> tensor<{1}x{2}x{0}>
  %0 = halftone.reduce sum %x {{axes = array<i64: 1>}} : tensor<{1}x{2}x{0}> -> tensor<{1}x{0}>
  %n = halftone.constant dense<0.015625> : tensor<{1}x{0}>
  %1 = halftone.mul %0, %n : tensor<{1}x{0}>
  %2 = halftone.broadcast %1 {{axes = array<i64: 0>}} : tensor<{1}x{0}> to tensor<{1}x{2}x{0}>
  %3 = halftone.sub %x, %2 : tensor<{1}x{2}x{0}>
  %4 = halftone.mul %3, %3 : tensor<{1}x{2}x{0}>
  %5 = halftone.reduce max %4 {{axes = array<i64: 1>}} : tensor<{1}x{2}x{0}> -> tensor<{1}x{0}>
  %6 = halftone.rsqrt %5 : tensor<{1}x{0}>
  %7 = halftone.broadcast %6 {{axes = array<i64: 0>}} : tensor<{1}x{0}> to tensor<{1}x{2}x{0}>
  %8 = halftone.mul %3, %7 : tensor<{1}x{2}x{0}>
  %9 = halftone.contract %8, %w {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}} : (tensor<{1}x{2}x{0}>, tensor<{2}x3x{0}>) -> tensor<{1}x3x{0}>
  %10 = halftone.contract %9, %w {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}} : (tensor<{1}x3x{0}>, tensor<{2}x3x{0}>) -> tensor<{1}x{2}x{0}>
  %11 = halftone.mul %10, %3 : tensor<{1}x{2}x{0}>
  %12 = halftone.sub %11, %3 : tensor<{1}x{2}x{0}>
  %13 = halftone.reduce max %12 {{axes = array<i64: 0>}} : tensor<{1}x{2}x{0}> -> tensor<{2}x{0}>
  return %12, %13 : tensor<{1}x{2}x{0}>, tensor<{2}x{0}>
}})",
      element, rows, width);
}

/// A gelu and its derivative, large enough that the derivative is recomputed after the second product.
constexpr const char *geluAndSlope =
    R"(func.func @main(%x: tensor<1024x3x@> {halftone.name = "x"}, %w: tensor<3x1025x@> {halftone.name = "w"}, %b: tensor<1025x@> {halftone.name = "b"})
    -> (tensor<1025x@> {halftone.name = "d"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1024x3x@>, tensor<3x1025x@>) -> tensor<1024x1025x@>
  %1 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<1025x@> to tensor<1024x1025x@>
  %2 = halftone.add %0, %1 : tensor<1024x1025x@>
  %3 = halftone.erf %2 : tensor<1024x1025x@>
  %4 = halftone.mul %2, %3 : tensor<1024x1025x@>
  %5 = halftone.contract %4, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<1024x1025x@>, tensor<3x1025x@>) -> tensor<1024x3x@>
  %6 = halftone.contract %5, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1024x3x@>, tensor<3x1025x@>) -> tensor<1024x1025x@>
  %7 = halftone.neg %2 : tensor<1024x1025x@>
  %8 = halftone.tanh %7 : tensor<1024x1025x@>
  %9 = halftone.mul %6, %8 : tensor<1024x1025x@>
  %10 = halftone.maximum %9, %3 : tensor<1024x1025x@>
  %11 = halftone.reduce max %10 {axes = array<i64: 0>} : tensor<1024x1025x@> -> tensor<1025x@>
  return %11 : tensor<1025x@>
})";

} // namespace

TEMPLATE_TEST_CASE("Normalized convolutions compute what the interpreter says", "", Host, Full<V2>, Full<V3>, Full<V4>,
                   Zen4) {
  if (!TestType::runs()) {
    WARN(TestType::target << " does not run here");
    return;
  }
  for (const char *element : {"f32", "bf16", "f16"}) {
    checkProgram(normalized(element, 4, 7), TestType::target, false, 1);
    checkProgram(normalized(element, 3, 70), TestType::target, false, 2); // two tiles of columns
  }
  checkProgram(normalized("f32", 1, 1), TestType::target, true, 3);
}

TEMPLATE_TEST_CASE("Normalized rows that later kernels make again are those that the interpreter computes", "", Host,
                   Full<V2>, Full<V3>, Full<V4>, Zen4) {
  if (!TestType::runs()) {
    WARN(TestType::target << " does not run here");
    return;
  }
  for (const char *element : {"f32", "bf16", "f16"})
    checkProgram(normalizedRows(element, 67, 64), TestType::target, false, 1);
  checkProgram(normalizedRows("f32", 1, 4100), TestType::target, false, 2);
  checkProgram(normalizedRows("f32", 4100, 1), TestType::target, false, 3);
  checkProgram(normalizedRows("bf16", 67, 64), TestType::target, true, 4);
}

TEST_CASE("The slope of a large gelu, made again behind the next product, is the one that the interpreter computes") {
  std::string program = geluAndSlope;
  for (size_t at = program.find("x@"); at != std::string::npos; at = program.find("x@", at))
    program.replace(at + 1, 1, "bf16");
  checkProgram(program, "host", false, 5);
}

TEST_CASE("Sums over all rows and columns of a product, each of several axes, compute what the interpreter says") {
  checkProgram(
      R"(func.func @main(%x: tensor<20x30x6xf16> {halftone.name = "x"}, %w: tensor<6x14x5xf16> {halftone.name = "w"})
    -> (tensor<20x30x14x5xf16> {halftone.name = "y"}, tensor<f16> {halftone.name = "s"}, tensor<14x5xf16> {halftone.name = "t"}, tensor<i1> {halftone.name = "f"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<20x30x6xf16>, tensor<6x14x5xf16>) -> tensor<20x30x14x5xf16>
  %1 = halftone.reduce max %0 {axes = array<i64: 0, 1, 2, 3>} : tensor<20x30x14x5xf16> -> tensor<f16>
  %2 = halftone.reduce sum %0 {axes = array<i64: 0, 1>} : tensor<20x30x14x5xf16> -> tensor<14x5xf16>
  %3 = halftone.is_finite %0 : tensor<20x30x14x5xf16>
  %4 = halftone.reduce and %3 {axes = array<i64: 0, 1, 2, 3>} : tensor<20x30x14x5xi1> -> tensor<i1>
  return %0, %1, %2, %4 : tensor<20x30x14x5xf16>, tensor<f16>, tensor<14x5xf16>, tensor<i1>
})",
      "host", false, 1);
}
