// Kernels of unusual shapes: their dims; their results equal the interpreter's.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>

using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;

namespace {

std::vector<int64_t> extentsOf(const KernelHarness &kernel) { return kernel.description().extents; }

void checkExactly(const std::string &text) {
  for (const std::string &target : runnableTargets()) {
    CAPTURE(target, text);
    KernelHarness kernel(text, target, true);
    kernel.checkExact(kernel.operands(11, true));
  }
}
void checkInside(const std::string &text, bool specials = false) {
  for (const std::string &target : runnableTargets())
    for (bool strict : {false, true}) {
      CAPTURE(target, strict, text);
      KernelHarness kernel(text, target, strict);
      kernel.checkInside(kernel.operands(12, specials));
    }
}

} // namespace

TEST_CASE("loop kernels compute random bits, indices and lookups exactly", "[kernels]") {
  checkExactly(R"(
halftone.kernel loop @k (tensor<2xui32>, tensor<3x70xui32>) -> (tensor<3x70xui32>, tensor<70x3xui32>, tensor<210xf32>) {
^bb0(%key: tensor<2xui32>, %x: tensor<3x70xui32>):
  %0 = halftone.random_bits %key : tensor<2xui32> -> tensor<3x70xui32>
  %1 = halftone.xor %0, %x : tensor<3x70xui32>
  %flat = halftone.random_bits %key : tensor<2xui32> -> tensor<70x3xui32>
  %y = halftone.reshape %x : tensor<3x70xui32> to tensor<70x3xui32>
  %2 = halftone.add %flat, %y : tensor<70x3xui32>
  %i = halftone.iota {axis = 0 : i64} : tensor<210xf32>
  %j = halftone.iota {axis = 1 : i64} : tensor<3x70xf32>
  %k = halftone.reshape %j : tensor<3x70xf32> to tensor<210xf32>
  %3 = halftone.sub %i, %k : tensor<210xf32>
  halftone.yield %1, %2, %3 : tensor<3x70xui32>, tensor<70x3xui32>, tensor<210xf32>
})");
  checkExactly(R"(
halftone.kernel loop @k (tensor<5x4xf16>) -> (tensor<5x4xf16>, tensor<5x4xbf16>) {
^bb0(%x: tensor<5x4xf16>):
  %c = halftone.constant dense<[1.0, -2.5, 3.0, 0.125]> : tensor<4xf16>
  %b = halftone.broadcast %c {axes = array<i64: 1>} : tensor<4xf16> to tensor<5x4xf16>
  %0 = halftone.mul %x, %b : tensor<5x4xf16>
  %i = halftone.iota {axis = 0 : i64} : tensor<5x4xbf16>
  halftone.yield %0, %i : tensor<5x4xf16>, tensor<5x4xbf16>
})");
}

TEST_CASE("Equal shapes are one dim, broadcasts cut only where they must", "[kernels]") {
  KernelHarness flat(R"(
halftone.kernel loop @k (tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<120xf32>) {
^bb0(%x: tensor<2x3x4x5xf32>):
  %0 = halftone.neg %x : tensor<2x3x4x5xf32>
  %1 = halftone.reshape %0 : tensor<2x3x4x5xf32> to tensor<120xf32>
  halftone.yield %0, %1 : tensor<2x3x4x5xf32>, tensor<120xf32>
})",
                     "host", false);
  CHECK(extentsOf(flat) == std::vector<int64_t>{120, 1, 120});
  KernelHarness bias(R"(
halftone.kernel loop @k (tensor<2x3x4x5xf32>, tensor<4x5xf32>) -> tensor<2x3x4x5xf32> {
^bb0(%x: tensor<2x3x4x5xf32>, %b: tensor<4x5xf32>):
  %0 = halftone.broadcast %b {axes = array<i64: 2, 3>} : tensor<4x5xf32> to tensor<2x3x4x5xf32>
  %1 = halftone.add %x, %0 : tensor<2x3x4x5xf32>
  halftone.yield %1 : tensor<2x3x4x5xf32>
})",
                     "host", true);
  CHECK(extentsOf(bias) == std::vector<int64_t>{6, 20, 6, 20});
  bias.checkExact(bias.operands(1, true));
}

TEST_CASE("a kernel may transpose several axes, and one value in several ways", "[kernels]") {
  checkExactly(R"(
halftone.kernel loop @k (tensor<3x5x1x7xbf16>, tensor<6x6xi8>) -> (tensor<7x3x5xbf16>) {
^bb0(%x: tensor<3x5x1x7xbf16>, %unused: tensor<6x6xi8>):
  %0 = halftone.transpose %x {permutation = array<i64: 3, 0, 2, 1>} : tensor<3x5x1x7xbf16> to tensor<7x3x1x5xbf16>
  %1 = halftone.reshape %0 : tensor<7x3x1x5xbf16> to tensor<7x3x5xbf16>
  halftone.yield %1 : tensor<7x3x5xbf16>
})");
  checkExactly(R"(
halftone.kernel loop @k (tensor<19x19xf16>) -> (tensor<19x19xf16>) {
^bb0(%x: tensor<19x19xf16>):
  %0 = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<19x19xf16> to tensor<19x19xf16>
  %1 = halftone.add %x, %0 : tensor<19x19xf16>
  halftone.yield %1 : tensor<19x19xf16>
})");
}

TEST_CASE("An operand that is read over a row and along it is cut alike", "[kernels]") {
  checkExactly(R"(
halftone.kernel loop @k (tensor<6xf32>, tensor<3xf32>) -> (tensor<6x6xf32>) {
^bb0(%x: tensor<6xf32>, %y: tensor<3xf32>):
  %0 = halftone.broadcast %x {axes = array<i64: 0>} : tensor<6xf32> to tensor<6x6xf32>
  %1 = halftone.broadcast %x {axes = array<i64: 1>} : tensor<6xf32> to tensor<6x6xf32>
  %2 = halftone.sub %0, %1 : tensor<6x6xf32>
  %3 = halftone.broadcast %y {axes = array<i64: 2>} : tensor<3xf32> to tensor<6x2x3xf32>
  %4 = halftone.reshape %3 : tensor<6x2x3xf32> to tensor<6x6xf32>
  %5 = halftone.mul %2, %4 : tensor<6x6xf32>
  halftone.yield %5 : tensor<6x6xf32>
})");
}

TEST_CASE("float8 is loaded, converted and stored", "[kernels]") {
  checkExactly(R"(
halftone.kernel loop @k (tensor<77xf8E4M3FN>, tensor<77xf8E5M2>) -> (tensor<77xf16>, tensor<77xf32>, tensor<77xf8E5M2>) {
^bb0(%a: tensor<77xf8E4M3FN>, %b: tensor<77xf8E5M2>):
  %0 = halftone.cast %a : tensor<77xf8E4M3FN> to tensor<77xf16>
  %1 = halftone.cast %b : tensor<77xf8E5M2> to tensor<77xf32>
  %2 = halftone.cast %0 : tensor<77xf16> to tensor<77xf8E5M2>
  halftone.yield %0, %1, %2 : tensor<77xf16>, tensor<77xf32>, tensor<77xf8E5M2>
})");
}

TEST_CASE("scalars, axes of extent 1 and empty tensors have kernel descriptions", "[kernels]") {
  checkExactly(R"(
halftone.kernel loop @k (tensor<f16>, tensor<1x1xf16>) -> (tensor<f16>, tensor<1xi1>) {
^bb0(%a: tensor<f16>, %b: tensor<1x1xf16>):
  %c = halftone.reshape %b : tensor<1x1xf16> to tensor<f16>
  %0 = halftone.add %a, %c : tensor<f16>
  %1 = halftone.compare lt %a, %c : tensor<f16>
  %2 = halftone.reshape %1 : tensor<i1> to tensor<1xi1>
  halftone.yield %0, %2 : tensor<f16>, tensor<1xi1>
})");
  checkExactly(R"(
halftone.kernel row @k (tensor<9x1xf16>) -> (tensor<9xf16>, tensor<9xi32>) {
^bb0(%a: tensor<9x1xf16>):
  %0 = halftone.reduce max %a {axes = array<i64: 1>} : tensor<9x1xf16> -> tensor<9xf16>
  %1 = halftone.arg_reduce max %a {axis = 1 : i64} : tensor<9x1xf16> -> tensor<9xi32>
  halftone.yield %0, %1 : tensor<9xf16>, tensor<9xi32>
})");
  checkExactly(R"(
halftone.kernel loop @k (tensor<0x4xf32>, tensor<4xf32>) -> (tensor<0x4xf32>) {
^bb0(%a: tensor<0x4xf32>, %b: tensor<4xf32>):
  %0 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<4xf32> to tensor<0x4xf32>
  %1 = halftone.add %a, %0 : tensor<0x4xf32>
  halftone.yield %1 : tensor<0x4xf32>
})");
  checkExactly(R"(
halftone.kernel loop @k (tensor<0x4xf32>) -> (tensor<4xf32>) {
^bb0(%a: tensor<0x4xf32>):
  %0 = halftone.reduce sum %a {axes = array<i64: 0>} : tensor<0x4xf32> -> tensor<4xf32>
  halftone.yield %0 : tensor<4xf32>
})");
  checkExactly(R"(
halftone.kernel row @k (tensor<3x0xf32>) -> (tensor<3xf32>) {
^bb0(%a: tensor<3x0xf32>):
  %0 = halftone.reduce prod %a {axes = array<i64: 1>} : tensor<3x0xf32> -> tensor<3xf32>
  halftone.yield %0 : tensor<3xf32>
})");
}

TEST_CASE("a reduction of a whole tensor to a scalar is one row", "[kernels]") {
  checkInside(R"(
halftone.kernel row @k (tensor<7x31xf16>) -> (tensor<f16>, tensor<f32>) {
^bb0(%a: tensor<7x31xf16>):
  %0 = halftone.reduce sum %a {axes = array<i64: 0, 1>} : tensor<7x31xf16> -> tensor<f16>
  %m = halftone.mul %a, %a : tensor<7x31xf16>
  %1 = halftone.reduce sum %m {axes = array<i64: 0, 1>} : tensor<7x31xf16> -> tensor<f32>
  halftone.yield %0, %1 : tensor<f16>, tensor<f32>
})");
  checkExactly(R"(
halftone.kernel row @k (tensor<300xi1>, tensor<300xui8>) -> (tensor<i1>, tensor<i1>, tensor<ui8>, tensor<ui8>) {
^bb0(%a: tensor<300xi1>, %b: tensor<300xui8>):
  %0 = halftone.reduce and %a {axes = array<i64: 0>} : tensor<300xi1> -> tensor<i1>
  %1 = halftone.reduce or %a {axes = array<i64: 0>} : tensor<300xi1> -> tensor<i1>
  %2 = halftone.reduce sum %b {axes = array<i64: 0>} : tensor<300xui8> -> tensor<ui8>
  %3 = halftone.reduce max %b {axes = array<i64: 0>} : tensor<300xui8> -> tensor<ui8>
  halftone.yield %0, %1, %2, %3 : tensor<i1>, tensor<i1>, tensor<ui8>, tensor<ui8>
})");
}

TEST_CASE("layer normalization is a row kernel with partial reductions", "[kernels]") {
  checkInside(R"(
halftone.kernel row @k (tensor<4x9x33xf16>, tensor<33xf32>, tensor<4x9x33xf16>)
    -> (tensor<4x9x33xf16>, tensor<4x9xf32>, tensor<4x1x33xf32>) attributes {spec = #halftone.blocks<rows = 1>} {
^bb0(%x: tensor<4x9x33xf16>, %gamma: tensor<33xf32>, %dy: tensor<4x9x33xf16>):
  %w = halftone.cast %x {origin = "user"} : tensor<4x9x33xf16> to tensor<4x9x33xf32>
  %n = halftone.constant dense<0.030303031> : tensor<4x9xf32>
  %s = halftone.reduce sum %w {axes = array<i64: 2>} : tensor<4x9x33xf32> -> tensor<4x9xf32>
  %mean = halftone.mul %s, %n : tensor<4x9xf32>
  %mb = halftone.broadcast %mean {axes = array<i64: 0, 1>} : tensor<4x9xf32> to tensor<4x9x33xf32>
  %d = halftone.sub %w, %mb : tensor<4x9x33xf32>
  %q = halftone.mul %d, %d : tensor<4x9x33xf32>
  %v = halftone.reduce sum %q {axes = array<i64: 2>} : tensor<4x9x33xf32> -> tensor<4x9xf32>
  %var = halftone.mul %v, %n : tensor<4x9xf32>
  %eps = halftone.constant dense<0.001> : tensor<4x9xf32>
  %ve = halftone.add %var, %eps : tensor<4x9xf32>
  %r = halftone.rsqrt %ve : tensor<4x9xf32>
  %rb = halftone.broadcast %r {axes = array<i64: 0, 1>} : tensor<4x9xf32> to tensor<4x9x33xf32>
  %h = halftone.mul %d, %rb : tensor<4x9x33xf32>
  %gb = halftone.broadcast %gamma {axes = array<i64: 2>} : tensor<33xf32> to tensor<4x9x33xf32>
  %y = halftone.mul %h, %gb : tensor<4x9x33xf32>
  %yn = halftone.cast %y {origin = "user"} : tensor<4x9x33xf32> to tensor<4x9x33xf16>
  %dyw = halftone.cast %dy {origin = "user"} : tensor<4x9x33xf16> to tensor<4x9x33xf32>
  %dg = halftone.mul %dyw, %h : tensor<4x9x33xf32>
  %p = halftone.partial_reduce sum %dg {axes = array<i64: 0, 1>, tile = array<i64: 1, 9>} : tensor<4x9x33xf32> -> tensor<4x1x33xf32>
  halftone.yield %yn, %r, %p : tensor<4x9x33xf16>, tensor<4x9xf32>, tensor<4x1x33xf32>
})");
}

TEST_CASE("a row may have two axes, and reshape may cut groups from it", "[kernels]") {
  checkInside(R"(
halftone.kernel row @k (tensor<2x6x5x7xf32>, tensor<6xf32>) -> (tensor<2x6x5x7xf32>) {
^bb0(%x: tensor<2x6x5x7xf32>, %gamma: tensor<6xf32>):
  %g = halftone.reshape %x : tensor<2x6x5x7xf32> to tensor<2x3x70xf32>
  %m = halftone.reduce max %g {axes = array<i64: 2>} : tensor<2x3x70xf32> -> tensor<2x3xf32>
  %mb = halftone.broadcast %m {axes = array<i64: 0, 1>} : tensor<2x3xf32> to tensor<2x3x70xf32>
  %d = halftone.sub %g, %mb : tensor<2x3x70xf32>
  %f = halftone.reshape %d : tensor<2x3x70xf32> to tensor<2x6x5x7xf32>
  %gb = halftone.broadcast %gamma {axes = array<i64: 1>} : tensor<6xf32> to tensor<2x6x5x7xf32>
  %y = halftone.mul %f, %gb : tensor<2x6x5x7xf32>
  halftone.yield %y : tensor<2x6x5x7xf32>
})",
              true);
  checkInside(R"(
halftone.kernel row @k (tensor<4x3x19xf16>) -> (tensor<4x3x19xf16>, tensor<4xf32>) {
^bb0(%x: tensor<4x3x19xf16>):
  %e = halftone.exp %x : tensor<4x3x19xf16>
  %s = halftone.reduce sum %e {axes = array<i64: 1, 2>} : tensor<4x3x19xf16> -> tensor<4xf32>
  %n = halftone.cast %s {origin = "user"} : tensor<4xf32> to tensor<4xf16>
  %b = halftone.broadcast %n {axes = array<i64: 0>} : tensor<4xf16> to tensor<4x3x19xf16>
  %t = halftone.transpose %e {permutation = array<i64: 0, 1, 2>} : tensor<4x3x19xf16> to tensor<4x3x19xf16>
  %y = halftone.div %t, %b : tensor<4x3x19xf16>
  halftone.yield %y, %s : tensor<4x3x19xf16>, tensor<4xf32>
})");
}

TEST_CASE("a kernel may reduce axes that do not lie together", "[kernels]") {
  checkInside(R"(
halftone.kernel loop @k (tensor<3x4x5x18xf32>, tensor<4x18xf32>) -> (tensor<4x18xf32>) {
^bb0(%x: tensor<3x4x5x18xf32>, %b: tensor<4x18xf32>):
  %0 = halftone.reduce sum %x {axes = array<i64: 0, 2>} : tensor<3x4x5x18xf32> -> tensor<4x18xf32>
  %1 = halftone.add %0, %b : tensor<4x18xf32>
  halftone.yield %1 : tensor<4x18xf32>
})");
  checkInside(R"(
halftone.kernel loop @k (tensor<18x4xf32>) -> (tensor<4xf32>) {
^bb0(%x: tensor<18x4xf32>):
  %b = halftone.constant dense<1.0> : tensor<18x4xf32>
  %0 = halftone.reduce sum %b {axes = array<i64: 0>} : tensor<18x4xf32> -> tensor<4xf32>
  halftone.yield %0 : tensor<4xf32>
})");
}

TEST_CASE("A flat kernel is cut for its partial reductions", "[kernels]") {
  const char *text = R"(
halftone.kernel loop @k (tensor<1000xf16>, tensor<1000xf32>) -> (tensor<1000xf32>, tensor<8xf32>, tensor<8xi1>)
    attributes {spec = #halftone.blocks<rows = 128>} {
^bb0(%x: tensor<1000xf16>, %y: tensor<1000xf32>):
  %w = halftone.cast %x {origin = "user"} : tensor<1000xf16> to tensor<1000xf32>
  %0 = halftone.add %w, %y : tensor<1000xf32>
  %1 = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 128>} : tensor<1000xf32> -> tensor<8xf32>
  %f = halftone.is_finite %x : tensor<1000xf16>
  %2 = halftone.partial_reduce and %f {axes = array<i64: 0>, tile = array<i64: 128>} : tensor<1000xi1> -> tensor<8xi1>
  halftone.yield %0, %1, %2 : tensor<1000xf32>, tensor<8xf32>, tensor<8xi1>
})";
  checkInside(text);
  checkInside(text, true);
}

TEST_CASE("Partial reductions of one row combine nothing", "[kernels]") {
  checkInside(R"(
halftone.kernel loop @k (tensor<1x300xf16>) -> (tensor<1x300xf16>, tensor<1x300xf32>, tensor<1x3xf32>)
    attributes {spec = #halftone.blocks<rows = 128>} {
^bb0(%x: tensor<1x300xf16>):
  %0 = halftone.mul %x, %x : tensor<1x300xf16>
  %1 = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 1>} : tensor<1x300xf16> -> tensor<1x300xf32>
  %2 = halftone.partial_reduce sum %0 {axes = array<i64: 0, 1>, tile = array<i64: 1, 128>} : tensor<1x300xf16> -> tensor<1x3xf32>
  halftone.yield %0, %1, %2 : tensor<1x300xf16>, tensor<1x300xf32>, tensor<1x3xf32>
})");
  checkInside(R"(
halftone.kernel row @k (tensor<1x300xf32>) -> (tensor<1xf32>, tensor<1x300xf32>, tensor<1xf32>) attributes {spec = #halftone.blocks<rows = 128>} {
^bb0(%x: tensor<1x300xf32>):
  %s = halftone.reduce max %x {axes = array<i64: 1>} : tensor<1x300xf32> -> tensor<1xf32>
  %b = halftone.broadcast %s {axes = array<i64: 0>} : tensor<1xf32> to tensor<1x300xf32>
  %d = halftone.sub %x, %b : tensor<1x300xf32>
  %1 = halftone.partial_reduce sum %d {axes = array<i64: 0>, tile = array<i64: 1>} : tensor<1x300xf32> -> tensor<1x300xf32>
  %2 = halftone.partial_reduce sum %s {axes = array<i64: 0>, tile = array<i64: 1>} : tensor<1xf32> -> tensor<1xf32>
  halftone.yield %s, %1, %2 : tensor<1xf32>, tensor<1x300xf32>, tensor<1xf32>
})");
}

TEST_CASE("Kernels of tensors without elements, and of one", "[kernels]") {
  checkInside(R"(
halftone.kernel loop @k (tensor<3x0x0xf32>, tensor<0x1x16xf32>) -> (tensor<3x0x0x2xf32>, tensor<0x16x1xf32>) {
^bb0(%x: tensor<3x0x0xf32>, %y: tensor<0x1x16xf32>):
  %0 = halftone.neg %x : tensor<3x0x0xf32>
  %1 = halftone.broadcast %0 {axes = array<i64: 0, 1, 2>} : tensor<3x0x0xf32> to tensor<3x0x0x2xf32>
  %2 = halftone.transpose %y {permutation = array<i64: 0, 2, 1>} : tensor<0x1x16xf32> to tensor<0x16x1xf32>
  halftone.yield %1, %2 : tensor<3x0x0x2xf32>, tensor<0x16x1xf32>
})");
  checkInside(R"(
halftone.kernel row @k (tensor<5x0x3xbf16>) -> (tensor<5xf32>, tensor<5xbf16>, tensor<5x0x3xbf16>) {
^bb0(%x: tensor<5x0x3xbf16>):
  %0 = halftone.reduce sum %x {axes = array<i64: 1, 2>} : tensor<5x0x3xbf16> -> tensor<5xf32>
  %1 = halftone.reduce max %x {axes = array<i64: 1, 2>} : tensor<5x0x3xbf16> -> tensor<5xbf16>
  %2 = halftone.neg %x : tensor<5x0x3xbf16>
  halftone.yield %0, %1, %2 : tensor<5xf32>, tensor<5xbf16>, tensor<5x0x3xbf16>
})");
  checkInside(R"(
halftone.kernel matmul @k (tensor<4x3x0x2xbf16>, tensor<0x2x3x5xbf16>) -> tensor<4x5xbf16> {
^bb0(%x: tensor<4x3x0x2xbf16>, %y: tensor<0x2x3x5xbf16>):
  %0 = halftone.contract %x, %y {lhs_contract = array<i64: 1, 2, 3>, rhs_contract = array<i64: 2, 0, 1>}
      : (tensor<4x3x0x2xbf16>, tensor<0x2x3x5xbf16>) -> tensor<4x5xbf16>
  halftone.yield %0 : tensor<4x5xbf16>
})");
  checkInside(R"(
halftone.kernel matmul @k (tensor<4x3xf32>, tensor<3x0xf32>) -> tensor<4x0xf32> {
^bb0(%x: tensor<4x3xf32>, %y: tensor<3x0xf32>):
  %0 = halftone.contract %x, %y {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<3x0xf32>) -> tensor<4x0xf32>
  %1 = halftone.neg %0 : tensor<4x0xf32>
  halftone.yield %1 : tensor<4x0xf32>
})");
  checkInside(R"(
halftone.kernel scatter @k (tensor<0xi32>, tensor<0x7xf32>) -> tensor<3x7xf32> {
^bb0(%i: tensor<0xi32>, %x: tensor<0x7xf32>):
  %0 = halftone.scatter_add %i, %x {axis = 0 : i64} : (tensor<0xi32>, tensor<0x7xf32>) -> tensor<3x7xf32>
  halftone.yield %0 : tensor<3x7xf32>
})");
  checkInside(R"(
halftone.kernel loop @k (tensor<1x1xf16>) -> (tensor<1x1xf16>, tensor<1xf16>) {
^bb0(%x: tensor<1x1xf16>):
  %0 = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<1x1xf16> to tensor<1x1xf16>
  %1 = halftone.add %0, %x : tensor<1x1xf16>
  %2 = halftone.reshape %1 : tensor<1x1xf16> to tensor<1xf16>
  halftone.yield %1, %2 : tensor<1x1xf16>, tensor<1xf16>
})");
}

TEST_CASE("An operand read as both factors of a product and after it", "[kernels]") {
  checkInside(R"(
halftone.kernel matmul @k (tensor<1x1xf32>) -> tensor<1x1xf32> {
^bb0(%x: tensor<1x1xf32>):
  %a = halftone.neg %x : tensor<1x1xf32>
  %0 = halftone.contract %a, %x {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %1 = halftone.add %0, %x : tensor<1x1xf32>
  halftone.yield %1 : tensor<1x1xf32>
})");
  checkInside(R"(
halftone.kernel matmul @k (tensor<1x1xf32>, tensor<1x7xf32>) -> tensor<5x7xf32> {
^bb0(%x: tensor<1x1xf32>, %y: tensor<1x7xf32>):
  %s = halftone.reshape %x : tensor<1x1xf32> to tensor<f32>
  %a = halftone.broadcast %s {axes = array<i64>} : tensor<f32> to tensor<5x1xf32>
  %0 = halftone.contract %a, %y {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<5x1xf32>, tensor<1x7xf32>) -> tensor<5x7xf32>
  %b = halftone.broadcast %s {axes = array<i64>} : tensor<f32> to tensor<5x7xf32>
  %1 = halftone.add %0, %b : tensor<5x7xf32>
  halftone.yield %1 : tensor<5x7xf32>
})");
  checkInside(R"(
halftone.kernel matmul @k (tensor<5x5xf32>) -> tensor<5x5xf32> {
^bb0(%x: tensor<5x5xf32>):
  %a = halftone.neg %x : tensor<5x5xf32>
  %0 = halftone.contract %a, %a {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %1 = halftone.add %0, %x : tensor<5x5xf32>
  halftone.yield %1 : tensor<5x5xf32>
})");
}

TEST_CASE("Rounding casts round, storage casts need not", "[kernels]") {
  auto text = [](const std::string &kind) {
    return R"(
halftone.kernel loop @k (tensor<4xf32>) -> tensor<4xf32> {
^bb0(%x: tensor<4xf32>):
  %n = halftone.cast %x {kind = #halftone<cast_kind )" +
           kind + R"(>} : tensor<4xf32> to tensor<4xf16>
  %w = halftone.cast %n : tensor<4xf16> to tensor<4xf32>
  %d = halftone.sub %x, %w : tensor<4xf32>
  halftone.yield %d : tensor<4xf32>
})";
  };
  KernelHarness rounding(text("rounding"), "host", false), storage(text("storage"), "host", false),
      strict(text("storage"), "host", true);
  CHECK(rounding.linalgText().find("arith.truncf") != std::string::npos);
  CHECK(storage.linalgText().find("arith.truncf") == std::string::npos);
  CHECK(strict.linalgText().find("arith.truncf") != std::string::npos);
  rounding.checkExact(rounding.operands(3, true));
  CHECK(strict.linalgText().find("fastmath") == std::string::npos);
}
