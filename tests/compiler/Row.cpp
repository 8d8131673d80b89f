// Compares compiled row kernels of several shapes with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>

using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;
using halftone::testing::shapes;
using halftone::testing::with;

namespace {

constexpr const char *softmax = R"(
halftone.kernel row @k (tensor<$Mx$Nx$T>) -> (tensor<$Mx$Nx$T>, tensor<$Mx$T>) {
^bb0(%x: tensor<$Mx$Nx$T>):
  %m = halftone.reduce max %x {axes = array<i64: 1>} : tensor<$Mx$Nx$T> -> tensor<$Mx$T>
  %mb = halftone.broadcast %m {axes = array<i64: 0>} : tensor<$Mx$T> to tensor<$Mx$Nx$T>
  %d = halftone.sub %x, %mb : tensor<$Mx$Nx$T>
  %e = halftone.exp %d : tensor<$Mx$Nx$T>
  %s = halftone.reduce sum %e {axes = array<i64: 1>} : tensor<$Mx$Nx$T> -> tensor<$Mx$T>
  %sb = halftone.broadcast %s {axes = array<i64: 0>} : tensor<$Mx$T> to tensor<$Mx$Nx$T>
  %y = halftone.div %e, %sb : tensor<$Mx$Nx$T>
  halftone.yield %y, %s : tensor<$Mx$Nx$T>, tensor<$Mx$T>
})";

/// Scalar work of several shapes that finishes partial reductions. The second sum depends on the first.
constexpr const char *finish = R"(
halftone.kernel row @k (tensor<$Mx$Nx$T>, tensor<$Nx$T>, tensor<$Mx1xi1>, tensor<$T>) -> (tensor<$T>, tensor<i1>, tensor<f32>) {
^bb0(%x: tensor<$Mx$Nx$T>, %y: tensor<$Nx$T>, %flags: tensor<$Mx1xi1>, %one: tensor<$T>):
  %squares = halftone.mul %x, %x : tensor<$Mx$Nx$T>
  %a = halftone.reduce sum %squares {axes = array<i64: 0, 1>} : tensor<$Mx$Nx$T> -> tensor<$T>
  %m = halftone.reduce max %x {axes = array<i64: 0, 1>} : tensor<$Mx$Nx$T> -> tensor<$T>
  %ab = halftone.broadcast %a {axes = array<i64>} : tensor<$T> to tensor<$Nx$T>
  %less = halftone.minimum %y, %ab : tensor<$Nx$T>
  %b = halftone.reduce sum %less {axes = array<i64: 0>} : tensor<$Nx$T> -> tensor<$T>
  %ok = halftone.reduce and %flags {axes = array<i64: 0, 1>} : tensor<$Mx1xi1> -> tensor<i1>
  %s = halftone.add %a, %b : tensor<$T>
  %t = halftone.select %ok, %s, %one : tensor<$T>
  %big = halftone.compare gt %m, %one : tensor<$T>
  %both = halftone.and %big, %ok : tensor<i1>
  %f = halftone.cast %b {origin = "test"} : tensor<$T> to tensor<f32>
  halftone.yield %t, %both, %f : tensor<$T>, tensor<i1>, tensor<f32>
})";

constexpr const char *crossEntropy = R"(
halftone.kernel row @k (tensor<$Mx$Nx$T>, tensor<$Mxi32>)
    -> (tensor<$Mxf32>, tensor<$Mx$Nx$T>, tensor<$Mxi32>, tensor<$Px$Nxf32>, tensor<$Pxf32>)
    attributes {spec = #halftone.blocks<rows = 5>} {
^bb0(%x: tensor<$Mx$Nx$T>, %label: tensor<$Mxi32>):
  %w = halftone.cast %x {origin = "loss"} : tensor<$Mx$Nx$T> to tensor<$Mx$Nxf32>
  %m = halftone.reduce max %w {axes = array<i64: 1>} : tensor<$Mx$Nxf32> -> tensor<$Mxf32>
  %mb = halftone.broadcast %m {axes = array<i64: 0>} : tensor<$Mxf32> to tensor<$Mx$Nxf32>
  %d = halftone.sub %w, %mb : tensor<$Mx$Nxf32>
  %e = halftone.exp %d : tensor<$Mx$Nxf32>
  %s = halftone.reduce sum %e {axes = array<i64: 1>} : tensor<$Mx$Nxf32> -> tensor<$Mxf32>
  %l = halftone.log %s : tensor<$Mxf32>
  %lb = halftone.broadcast %l {axes = array<i64: 0>} : tensor<$Mxf32> to tensor<$Mx$Nxf32>
  %lsm = halftone.sub %d, %lb : tensor<$Mx$Nxf32>
  %i = halftone.iota {axis = 1 : i64} : tensor<$Mx$Nxi32>
  %t = halftone.broadcast %label {axes = array<i64: 0>} : tensor<$Mxi32> to tensor<$Mx$Nxi32>
  %hit = halftone.compare eq %i, %t : tensor<$Mx$Nxi32>
  %zero = halftone.constant dense<0.0> : tensor<$Mx$Nxf32>
  %picked = halftone.select %hit, %lsm, %zero : tensor<$Mx$Nxf32>
  %sum = halftone.reduce sum %picked {axes = array<i64: 1>} : tensor<$Mx$Nxf32> -> tensor<$Mxf32>
  %loss = halftone.neg %sum : tensor<$Mxf32>
  %one = halftone.cast %hit : tensor<$Mx$Nxi1> to tensor<$Mx$Nxf32>
  %sb = halftone.broadcast %s {axes = array<i64: 0>} : tensor<$Mxf32> to tensor<$Mx$Nxf32>
  %p = halftone.div %e, %sb : tensor<$Mx$Nxf32>
  %g = halftone.sub %p, %one : tensor<$Mx$Nxf32>
  %gn = halftone.cast %g {origin = "loss"} : tensor<$Mx$Nxf32> to tensor<$Mx$Nx$T>
  %best = halftone.arg_reduce max %x {axis = 1 : i64} : tensor<$Mx$Nx$T> -> tensor<$Mxi32>
  %bias = halftone.partial_reduce sum %gn {axes = array<i64: 0>, tile = array<i64: 5>} : tensor<$Mx$Nx$T> -> tensor<$Px$Nxf32>
  %total = halftone.partial_reduce sum %loss {axes = array<i64: 0>, tile = array<i64: 5>} : tensor<$Mxf32> -> tensor<$Pxf32>
  halftone.yield %loss, %gn, %best, %bias, %total
      : tensor<$Mxf32>, tensor<$Mx$Nx$T>, tensor<$Mxi32>, tensor<$Px$Nxf32>, tensor<$Pxf32>
})";

constexpr const char *softmaxGradient = R"(
halftone.kernel row @k (tensor<$Mx$Nx$T>, tensor<$Mx$Nx$T>) -> (tensor<$Mx$Nx$T>, tensor<$Mx$T>) {
^bb0(%y: tensor<$Mx$Nx$T>, %dy: tensor<$Mx$Nx$T>):
  %p = halftone.mul %y, %dy : tensor<$Mx$Nx$T>
  %s = halftone.reduce sum %p {axes = array<i64: 1>} : tensor<$Mx$Nx$T> -> tensor<$Mx$T>
  %sb = halftone.broadcast %s {axes = array<i64: 0>} : tensor<$Mx$T> to tensor<$Mx$Nx$T>
  %d = halftone.sub %dy, %sb : tensor<$Mx$Nx$T>
  %r = halftone.mul %y, %d : tensor<$Mx$Nx$T>
  halftone.yield %r, %s : tensor<$Mx$Nx$T>, tensor<$Mx$T>
})";

/// Layer normalization: the mean of each row is subtracted; the row is scaled and shifted.
constexpr const char *layerNorm = R"(
halftone.kernel row @k (tensor<$Mx$Nx$T>, tensor<$Nxf32>, tensor<$Nxf32>, tensor<f32>)
    -> (tensor<$Mx$Nx$T>, tensor<$Mxf32>, tensor<$Mxf32>) {
^bb0(%x: tensor<$Mx$Nx$T>, %gamma: tensor<$Nxf32>, %beta: tensor<$Nxf32>, %scale: tensor<f32>):
  %w = halftone.cast %x {origin = "test"} : tensor<$Mx$Nx$T> to tensor<$Mx$Nxf32>
  %s = halftone.reduce sum %w {axes = array<i64: 1>} : tensor<$Mx$Nxf32> -> tensor<$Mxf32>
  %f = halftone.broadcast %scale {axes = array<i64>} : tensor<f32> to tensor<$Mxf32>
  %mean = halftone.mul %s, %f : tensor<$Mxf32>
  %mb = halftone.broadcast %mean {axes = array<i64: 0>} : tensor<$Mxf32> to tensor<$Mx$Nxf32>
  %d = halftone.sub %w, %mb : tensor<$Mx$Nxf32>
  %q = halftone.mul %d, %d : tensor<$Mx$Nxf32>
  %v = halftone.reduce sum %q {axes = array<i64: 1>} : tensor<$Mx$Nxf32> -> tensor<$Mxf32>
  %one = halftone.constant dense<1.0> : tensor<$Mxf32>
  %v1 = halftone.add %v, %one : tensor<$Mxf32>
  %r = halftone.rsqrt %v1 : tensor<$Mxf32>
  %rb = halftone.broadcast %r {axes = array<i64: 0>} : tensor<$Mxf32> to tensor<$Mx$Nxf32>
  %n = halftone.mul %d, %rb : tensor<$Mx$Nxf32>
  %gb = halftone.broadcast %gamma {axes = array<i64: 1>} : tensor<$Nxf32> to tensor<$Mx$Nxf32>
  %bb = halftone.broadcast %beta {axes = array<i64: 1>} : tensor<$Nxf32> to tensor<$Mx$Nxf32>
  %g = halftone.mul %n, %gb : tensor<$Mx$Nxf32>
  %z = halftone.add %g, %bb : tensor<$Mx$Nxf32>
  %y = halftone.cast %z {origin = "test"} : tensor<$Mx$Nxf32> to tensor<$Mx$Nx$T>
  halftone.yield %y, %mean, %r : tensor<$Mx$Nx$T>, tensor<$Mxf32>, tensor<$Mxf32>
})";

/// Partial reductions over the first of two outer axes, over both, and over all axes.
constexpr const char *outerSides = R"(
halftone.kernel row @k (tensor<$Bx$Mx$Nxf32>)
    -> (tensor<$Bx$Mxf32>, tensor<$Px$Mx$Nxf32>, tensor<$Px1x$Nxf32>, tensor<$Px1x1xf32>)
    attributes {spec = #halftone.blocks<rows = 2>} {
^bb0(%x: tensor<$Bx$Mx$Nxf32>):
  %s = halftone.reduce sum %x {axes = array<i64: 2>} : tensor<$Bx$Mx$Nxf32> -> tensor<$Bx$Mxf32>
  %sb = halftone.broadcast %s {axes = array<i64: 0, 1>} : tensor<$Bx$Mxf32> to tensor<$Bx$Mx$Nxf32>
  %y = halftone.mul %x, %sb : tensor<$Bx$Mx$Nxf32>
  %0 = halftone.partial_reduce sum %y {axes = array<i64: 0>, tile = array<i64: 2>} : tensor<$Bx$Mx$Nxf32> -> tensor<$Px$Mx$Nxf32>
  %1 = halftone.partial_reduce sum %y {axes = array<i64: 0, 1>, tile = array<i64: 2, $M>} : tensor<$Bx$Mx$Nxf32> -> tensor<$Px1x$Nxf32>
  %2 = halftone.partial_reduce max %y {axes = array<i64: 0, 1, 2>, tile = array<i64: 2, $M, $N>} : tensor<$Bx$Mx$Nxf32> -> tensor<$Px1x1xf32>
  halftone.yield %s, %0, %1, %2 : tensor<$Bx$Mxf32>, tensor<$Px$Mx$Nxf32>, tensor<$Px1x$Nxf32>, tensor<$Px1x1xf32>
})";

constexpr const char *orders = R"(
halftone.kernel row @k (tensor<$Mx$Nx$T>) -> (tensor<$Mx$T>, tensor<$Mx$T>, tensor<$Mxi32>, tensor<$Mxi32>) {
^bb0(%x: tensor<$Mx$Nx$T>):
  %0 = halftone.reduce max %x {axes = array<i64: 1>} : tensor<$Mx$Nx$T> -> tensor<$Mx$T>
  %1 = halftone.reduce min %x {axes = array<i64: 1>} : tensor<$Mx$Nx$T> -> tensor<$Mx$T>
  %2 = halftone.arg_reduce max %x {axis = 1 : i64} : tensor<$Mx$Nx$T> -> tensor<$Mxi32>
  %3 = halftone.arg_reduce min %x {axis = 1 : i64} : tensor<$Mx$Nx$T> -> tensor<$Mxi32>
  halftone.yield %0, %1, %2, %3 : tensor<$Mx$T>, tensor<$Mx$T>, tensor<$Mxi32>, tensor<$Mxi32>
})";

} // namespace

TEST_CASE("Softmax by rows stays within its bounds", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  bool strict = GENERATE(false, true);
  for (const char *type : {"f32", "f16", "bf16", "f64"})
    for (auto [m, n] : shapes) {
      CAPTURE(target, type, m, n, strict);
      KernelHarness kernel(with(softmax, m, n, type), target, strict);
      kernel.checkInside(kernel.operands(1, false));
      kernel.checkInside(kernel.operands(2, true));
    }
}

TEST_CASE("a row kernel with two inner dims may cut them in the middle of a vector", "[kernels]") {
  constexpr const char *text = R"(
halftone.kernel row @k (tensor<$Mx$Ax$Nx$T>, tensor<$Nx$T>) -> (tensor<$Mx$Ax$Nx$T>, tensor<$Mx$T>) {
^bb0(%x: tensor<$Mx$Ax$Nx$T>, %b: tensor<$Nx$T>):
  %bb = halftone.broadcast %b {axes = array<i64: 2>} : tensor<$Nx$T> to tensor<$Mx$Ax$Nx$T>
  %z = halftone.add %x, %bb : tensor<$Mx$Ax$Nx$T>
  %m = halftone.reduce max %z {axes = array<i64: 1, 2>} : tensor<$Mx$Ax$Nx$T> -> tensor<$Mx$T>
  %mb = halftone.broadcast %m {axes = array<i64: 0>} : tensor<$Mx$T> to tensor<$Mx$Ax$Nx$T>
  %d = halftone.sub %z, %mb : tensor<$Mx$Ax$Nx$T>
  %e = halftone.exp %d : tensor<$Mx$Ax$Nx$T>
  %s = halftone.reduce sum %e {axes = array<i64: 1, 2>} : tensor<$Mx$Ax$Nx$T> -> tensor<$Mx$T>
  %sb = halftone.broadcast %s {axes = array<i64: 0>} : tensor<$Mx$T> to tensor<$Mx$Ax$Nx$T>
  %y = halftone.div %e, %sb : tensor<$Mx$Ax$Nx$T>
  halftone.yield %y, %m : tensor<$Mx$Ax$Nx$T>, tensor<$Mx$T>
})";
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "bf16", "f64"})
    for (auto [m, a, n] : {std::tuple<int64_t, int64_t, int64_t>{4, 3, 5}, {2, 5, 67}, {3, 2, 64}, {1, 7, 130}}) {
      CAPTURE(target, type, m, a, n);
      KernelHarness kernel(with(with(text, {{"$A", std::to_string(a)}}), m, n, type), target, false);
      kernel.checkInside(kernel.operands(1, false));
      kernel.checkInside(kernel.operands(2, true));
    }
}

TEST_CASE("one row of several shapes is reduced to scalars", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  bool strict = GENERATE(false, true);
  for (const char *type : {"f32", "f16", "f64"})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{3, 5}, {24, 16}, {7, 1}, {37, 100}}) {
      CAPTURE(target, type, m, n, strict);
      KernelHarness kernel(with(finish, m, n, type), target, strict);
      CHECK(kernel.description().grid == 1);
      for (unsigned seed : {1u, 2u})
        kernel.checkInside(kernel.operands(seed, seed == 2));
    }
}

TEST_CASE("Cross-entropy, its gradient, the bias gradient and the summed loss in one row kernel", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "f16"})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{13, 10}, {5, 33}, {64, 10}}) {
      CAPTURE(target, type, m, n);
      std::string blocks = std::to_string((m + 4) / 5);
      KernelHarness kernel(with(with(crossEntropy, {{"$P", blocks}}), m, n, type), target, false);
      auto operands = kernel.operands(3, false);
      for (int64_t &label : operands[1].integers)
        label = (label % n + n) % n;
      kernel.checkInside(operands);
      CHECK(kernel.description().grid == (m + 4) / 5);
    }
}

TEST_CASE("max and min keep NaN, arg_reduce takes the first, NaN before all", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "f16", "f64", "i32", "ui8", "i64"})
    for (auto [m, n] : shapes) {
      CAPTURE(target, type, m, n);
      KernelHarness kernel(with(orders, m, n, type), target, true);
      auto ties = kernel.operands(4, false);
      for (double &value : ties[0].low)
        value = std::round(value);
      for (double &value : ties[0].low) // zeros of one sign, since max of both may return -0 or +0
        value += 0.0;
      ties[0].high = ties[0].low;
      kernel.checkExact(ties);
      auto specials = kernel.operands(5, true);
      for (double &value : specials[0].low)
        value += 0.0;
      specials[0].high = specials[0].low;
      kernel.checkExact(specials);
    }
}

TEST_CASE("A launch that touches more than the caches hold gives the bits of a small one", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  // With many rows, three arrays exceed 16 MiB. GPU code does not distinguish this case.
  const int64_t few = 4, many = target.starts_with("sm_") ? 40 : 1400;
  for (auto [type, n] : {std::pair<const char *, int64_t>{"f32", 1040}, {"bf16", 2080}, {"f32", 1037}}) {
    CAPTURE(target, type, n);
    KernelHarness small(with(softmaxGradient, few, n, type), target, false);
    KernelHarness large(with(softmaxGradient, many, n, type), target, false);
    CHECK(small.linalgText() == large.linalgText());
    auto operands = small.operands(8, false);
    small.checkInside(operands);
    auto repeated = [&](const auto &values) {
      auto all = values;
      for (int64_t time = 1; time < many / few; ++time)
        all.insert(all.end(), values.begin(), values.end());
      return all;
    };
    const auto expected = small.run(operands);
    for (auto &operand : operands) {
      operand.type = operand.type.clone({many, n});
      operand.low = operand.high = repeated(operand.low);
    }
    const auto results = large.run(operands);
    for (size_t i = 0; i < results.size(); ++i)
      CHECK(results[i].low == repeated(expected[i].low));
  }
}

TEST_CASE("Softmax stays within its bounds at every length of a row", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "bf16"})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{3, 2},
                        {70, 31},
                        {9, 32},
                        {17, 33},
                        {3, 1000},
                        {2, 2999},
                        {2, 5000},
                        {1, 20000}}) {
      CAPTURE(target, type, m, n);
      KernelHarness kernel(with(softmax, m, n, type), target, /*strict=*/false);
      kernel.checkInside(kernel.operands(1, false));
      kernel.checkInside(kernel.operands(2, true));
    }
}

TEST_CASE("Layer normalisation reads scale and offset along the row", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "f16"})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{13, 10}, {9, 64}, {3, 1000}, {2, 20000}}) {
      CAPTURE(target, type, m, n);
      KernelHarness kernel(with(layerNorm, m, n, type), target, /*strict=*/false);
      auto operands = kernel.operands(1, false);
      operands[3].low = operands[3].high = {1.0 / 1024};
      kernel.checkInside(operands);
    }
}

TEST_CASE("arg_reduce takes the first of equals in long rows", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const int64_t n : {1000, 5000, 20000}) {
    CAPTURE(target, n);
    KernelHarness kernel(with(orders, 2, n, "f32"), target, true);
    auto operands = kernel.operands(4, false);
    for (double &value : operands[0].low)
      value = std::round(value) + 0.0;
    operands[0].high = operands[0].low;
    kernel.checkExact(operands);
  }
}

TEST_CASE("Partial reductions of long rows give one partial result per block", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (auto [m, n] : {std::pair<int64_t, int64_t>{7, 1000}, {6, 20000}}) {
    CAPTURE(target, m, n);
    KernelHarness kernel(with(with(crossEntropy, {{"$P", "2"}}), m, n, "f32"), target, false);
    auto operands = kernel.operands(3, false);
    for (int64_t &label : operands[1].integers)
      label = (label % n + n) % n;
    kernel.checkInside(operands);
  }
}

TEST_CASE("Partial reductions of row kernels may keep an outer axis", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (auto [b, m, n] : {std::tuple<int64_t, int64_t, int64_t>{5, 3, 20}, {4, 2, 33}, {3, 2, 9000}, {2, 1, 40}}) {
    CAPTURE(target, b, m, n);
    const std::string blocks = std::to_string((b + 1) / 2);
    const std::string text = with(outerSides, {{"$B", std::to_string(b)}, {"$P", blocks}});
    KernelHarness kernel(with(text, m, n, "f32"), target, false);
    kernel.checkInside(kernel.operands(6, false));
  }
}
