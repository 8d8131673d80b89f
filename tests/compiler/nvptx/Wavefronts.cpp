// Holds the wavefronts of shared memory and the sectors of global memory that the kernels of each emitter take, beside the fewest possible.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/EmulatedGpu.h"
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <map>
#include <sstream>

using halftone::emulator::AccessRow;
using halftone::testing::accessesOnGpu;
using halftone::testing::KernelHarness;
using halftone::testing::with;

namespace {

/// The units and the ideal of each kind of access. The accesses of shared memory behind a kernel's last product of factors are those of
/// its epilogue: "epilogue" counts them, and not "ld.shared" and "st.shared".
class Accesses {
public:
  explicit Accesses(const std::string &text, bool strict = false) : text_(text) {
    const KernelHarness kernel(text, "sm_80", strict);
    const auto launch = kernel.gpuLaunch(kernel.operands(1, false));
    const int products = lastProduct(kernel.code().code, text.find("kernel matmul") != text.npos);
    for (const AccessRow &row : accessesOnGpu(launch)) {
      const bool isEpilogue = row.line > products && row.kind.ends_with(".shared");
      const std::string kind = isEpilogue ? "epilogue " + row.kind : row.kind;
      units_[kind] += row.units, ideal_[kind] += row.ideal;
      told_ += fmt::format("  line {}: {} {} requests, {:.2f}\n", row.line, kind, row.requests, row.ratio());
    }
    std::string line;
    for (auto &[k, u] : units_) line += fmt::format(" {} {:.2f} ({})", k, ratio(k), ideal_[k]);
    fmt::print("{}\n", line);
  }
  double ratio(const std::string &kind) const {
    const auto found = ideal_.find(kind);
    return found == ideal_.end() ? 1 : double(units_.at(kind)) / double(found->second);
  }
  bool has(const std::string &kind) const { return ideal_.contains(kind); }

private:
  static int lastProduct(const std::string &ptx, bool isMatmul) {
    int last = 1 << 30, number = 0;
    std::istringstream stream(ptx);
    for (std::string line; std::getline(stream, line);) {
      ++number;
      if (isMatmul && (line.find("mma.sync") != line.npos || line.find("fma.rn") != line.npos))
        last = number;
    }
    return last;
  }

  std::string text_, told_;
  std::map<std::string, uint64_t> units_, ideal_;
};

std::string productOf(int64_t m, int64_t n, int64_t k, bool ta, bool tb, const std::string &factor, const std::string &result, int64_t tile) {
  const auto matrix = [](int64_t rows, int64_t columns, const std::string &type) { return fmt::format("tensor<{}x{}x{}>", rows, columns, type); };
  const std::string a = ta ? matrix(k, m, factor) : matrix(m, k, factor), b = tb ? matrix(n, k, factor) : matrix(k, n, factor), r = matrix(m, n, result);
  return fmt::format(R"(
halftone.kernel matmul @k ({0}, {1}) -> ({2}) attributes {{spec = #halftone.blocks<tile = [{3}, {3}]>}} {{
^bb0(%x: {0}, %y: {1}):
  %0 = halftone.contract %x, %y {{lhs_contract = array<i64: {4}>, rhs_contract = array<i64: {5}>}} : ({0}, {1}) -> {2}
  halftone.yield %0 : {2}
}})", a, b, r, tile, ta ? 0 : 1, tb ? 1 : 0);
}

/// A dense layer with sums over rows of its results, and the largest of each tile.
std::string layerOf(int64_t m, int64_t n, int64_t k, const std::string &factor, const std::string &result, int64_t tile) {
  return fmt::format(R"(
halftone.kernel matmul @k (tensor<{0}x{2}x{3}>, tensor<{2}x{1}x{3}>)
    -> (tensor<{0}x{1}x{7}>, tensor<{5}x{1}xf32>, tensor<{5}x{6}xf32>, tensor<{5}x{1}xi1>)
    attributes {{spec = #halftone.blocks<tile = [{4}, {4}]>}} {{
^bb0(%x: tensor<{0}x{2}x{3}>, %w: tensor<{2}x{1}x{3}>):
  %0 = halftone.contract %x, %w {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}}
      : (tensor<{0}x{2}x{3}>, tensor<{2}x{1}x{3}>) -> tensor<{0}x{1}x{7}>
  %p = halftone.partial_reduce sum %0 {{axes = array<i64: 0>, tile = array<i64: {4}>}} : tensor<{0}x{1}x{7}> -> tensor<{5}x{1}xf32>
  %q = halftone.partial_reduce max %0 {{axes = array<i64: 0, 1>, tile = array<i64: {4}, {4}>}} : tensor<{0}x{1}x{7}> -> tensor<{5}x{6}xf32>
  %f = halftone.is_finite %0 : tensor<{0}x{1}x{7}>
  %s = halftone.partial_reduce and %f {{axes = array<i64: 0>, tile = array<i64: {4}>}} : tensor<{0}x{1}xi1> -> tensor<{5}x{1}xi1>
  halftone.yield %0, %p, %q, %s : tensor<{0}x{1}x{7}>, tensor<{5}x{1}xf32>, tensor<{5}x{6}xf32>, tensor<{5}x{1}xi1>
}})", m, n, k, factor, tile, (m + tile - 1) / tile, (n + tile - 1) / tile, result);
}



TEST_CASE("explore") {
  for (const auto &[factor, result] : {std::pair{"f32", "f32"}, {"f64", "f64"}, {"f16", "f16"}, {"f16", "f32"}, {"bf16", "bf16"}, {"i8", "i32"}, {"i32", "i32"}, {"i64", "i64"}, {"f8E4M3FN","f32"}})
    for (int64_t tile : {32, 64, 128})
      for (int order = 0; order < 4; ++order) {
        fmt::print("product {} {} {} {}: ", factor, result, tile, order);
        Accesses(productOf(128, 128, 128, order & 1, order & 2, factor, result, tile));
      }
  for (const auto &[factor, result] : {std::pair{"f32", "f32"}, {"f16", "f16"}, {"f16", "f32"}, {"bf16", "bf16"}, {"f8E4M3FN","f32"}})
    for (int64_t tile : {32, 64, 128})
      for (int64_t n : {128, 127}) {
        fmt::print("layer {} {} {} {}: ", factor, result, tile, n);
        Accesses(layerOf(128, n, 64, factor, result, tile));
      }
}

constexpr const char *norm = R"(
halftone.kernel row @k (tensor<$Mx$Nx$T>, tensor<$Nxf32>) -> (tensor<$Mx$Nx$T>, tensor<$Mxf32>, tensor<$Px$Nxf32>, tensor<$Px1xf32>)
    attributes {spec = #halftone.blocks<rows = 16>} {
^bb0(%x: tensor<$Mx$Nx$T>, %gamma: tensor<$Nxf32>):
  %w = halftone.cast %x {origin = "test"} : tensor<$Mx$Nx$T> to tensor<$Mx$Nxf32>
  %s = halftone.reduce sum %w {axes = array<i64: 1>} : tensor<$Mx$Nxf32> -> tensor<$Mxf32>
  %sb = halftone.broadcast %s {axes = array<i64: 0>} : tensor<$Mxf32> to tensor<$Mx$Nxf32>
  %d = halftone.sub %w, %sb : tensor<$Mx$Nxf32>
  %gb = halftone.broadcast %gamma {axes = array<i64: 1>} : tensor<$Nxf32> to tensor<$Mx$Nxf32>
  %g = halftone.mul %d, %gb : tensor<$Mx$Nxf32>
  %y = halftone.cast %g {origin = "test"} : tensor<$Mx$Nxf32> to tensor<$Mx$Nx$T>
  %p = halftone.partial_reduce sum %g {axes = array<i64: 0>, tile = array<i64: 16>} : tensor<$Mx$Nxf32> -> tensor<$Px$Nxf32>
  %q = halftone.partial_reduce max %g {axes = array<i64: 0, 1>, tile = array<i64: 16, $N>} : tensor<$Mx$Nxf32> -> tensor<$Px1xf32>
  halftone.yield %y, %s, %p, %q : tensor<$Mx$Nx$T>, tensor<$Mxf32>, tensor<$Px$Nxf32>, tensor<$Px1xf32>
})";
constexpr const char *sides = R"(
halftone.kernel loop @k (tensor<$Mx$Nx$T>) -> (tensor<$Mx$Nx$T>, tensor<$Px$Nxf32>, tensor<$Px1xf32>)
    attributes {spec = #halftone.blocks<rows = 32>} {
^bb0(%x: tensor<$Mx$Nx$T>):
  %0 = halftone.mul %x, %x : tensor<$Mx$Nx$T>
  %1 = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 32>} : tensor<$Mx$Nx$T> -> tensor<$Px$Nxf32>
  %2 = halftone.partial_reduce max %x {axes = array<i64: 0, 1>, tile = array<i64: 32, $N>} : tensor<$Mx$Nx$T> -> tensor<$Px1xf32>
  halftone.yield %0, %1, %2 : tensor<$Mx$Nx$T>, tensor<$Px$Nxf32>, tensor<$Px1xf32>
})";
constexpr const char *columns = R"(
halftone.kernel loop @k (tensor<$Mx$Nx$T>) -> (tensor<$Nx$T>, tensor<$Nxi32>) {
^bb0(%x: tensor<$Mx$Nx$T>):
  %s = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<$Mx$Nx$T> -> tensor<$Nx$T>
  %a = halftone.arg_reduce min %x {axis = 0 : i64} : tensor<$Mx$Nx$T> -> tensor<$Nxi32>
  halftone.yield %s, %a : tensor<$Nx$T>, tensor<$Nxi32>
})";
constexpr const char *turned = R"(
halftone.kernel loop @k (tensor<$Nx$Mx$T>, tensor<$Mx$Nx$T>) -> tensor<$Mx$Nx$T> {
^bb0(%x: tensor<$Nx$Mx$T>, %y: tensor<$Mx$Nx$T>):
  %t = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<$Nx$Mx$T> to tensor<$Mx$Nx$T>
  %0 = halftone.add %t, %y : tensor<$Mx$Nx$T>
  halftone.yield %0 : tensor<$Mx$Nx$T>
})";
constexpr const char *scanOf = R"(
halftone.kernel scan @k (tensor<$Mx$Nx$T>) -> tensor<$Mx$Nx$T> {
^bb0(%x: tensor<$Mx$Nx$T>):
  %1 = halftone.cumsum %x {axis = $A : i64} : tensor<$Mx$Nx$T> -> tensor<$Mx$Nx$T>
  halftone.yield %1 : tensor<$Mx$Nx$T>
})";
constexpr const char *scatter = R"(
halftone.kernel scatter @k (tensor<70xi64>, tensor<70x$Nx$T>) -> tensor<$Mx$Nx$T> {
^bb0(%i: tensor<70xi64>, %u: tensor<70x$Nx$T>):
  %0 = halftone.scatter_add %i, %u {axis = 0 : i64} : (tensor<70xi64>, tensor<70x$Nx$T>) -> tensor<$Mx$Nx$T>
  halftone.yield %0 : tensor<$Mx$Nx$T>
})";

TEST_CASE("more") {
  const auto show = [](const std::string &name, const char *text, int64_t m, int64_t n, const std::string &type, int64_t tile = 1) {
    fmt::print("{} {} x {} {}: ", name, m, n, type);
    Accesses(with(with(text, {{"$P", std::to_string((m + tile - 1) / tile)}, {"$A", std::to_string(tile - 1)}}), m, n, type));
  };
  for (const char *type : {"f32", "f16", "bf16"})
    for (int64_t n : {64, 384, 1000, 1024, 65, 10000})
      show("norm", norm, 64, n, type, 16);
  for (const char *type : {"f32", "f16", "bf16"})
    for (int64_t n : {16, 32, 64, 384, 65, 1024})
      show("sides", sides, 128, n, type, 32);
  for (const char *type : {"f32", "f16", "f64", "i8", "i64"})
    for (int64_t n : {16, 32, 64, 384, 65})
      show("columns", columns, 256, n, type);
  for (const char *type : {"f32", "f16", "f64", "i8", "i64"})
    for (int64_t n : {128, 65})
      show("turned", turned, 128, n, type);
  for (const char *type : {"f32", "f16", "f64", "i8"})
    for (int64_t axis : {0, 1})
      show(axis ? "scan1" : "scan0", scanOf, 128, 256, type, axis + 1);
  for (const char *type : {"f32", "f64"})
    show("scatter", scatter, 16, 256, type);
}
} // namespace
