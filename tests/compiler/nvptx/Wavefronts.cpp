// Compares the shared-memory wavefronts and global-memory sectors of each emitter's kernels with the minimum.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/EmulatedGpu.h"
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <map>

using halftone::emulator::AccessRow;
using halftone::testing::accessesOnGpu;
using halftone::testing::KernelHarness;
using halftone::testing::with;

namespace {

/// The largest ratio to the ideal, per kind of access that may exceed the limit.
using Exceptions = std::map<std::string, double>;
constexpr double mostPerIdeal = 1.1;

struct Sum {
  uint64_t units = 0, ideal = 0;
  double ratio() const { return double(units) / double(ideal); }
};

/// Runs a kernel and checks its accesses: each instruction that accesses shared memory separately, and the instructions
/// of each kind that access global memory together. Prints a line with the ratio to the ideal of each kind.
void check(const std::string &name, const std::string &text, const Exceptions &exceptions = {}) {
  const KernelHarness kernel(text, "sm_80", /*strict=*/false);
  std::map<std::string, Sum> sums;
  const auto mostOf = [&](const std::string &kind) {
    const auto found = exceptions.find(kind);
    return found == exceptions.end() ? mostPerIdeal : found->second;
  };
  INFO(name << "\n" << text);
  for (const AccessRow &row : accessesOnGpu(kernel.gpuLaunch(kernel.operands(1, false)))) {
    Sum &sum = sums[row.kind];
    sum.units += row.units, sum.ideal += row.ideal;
    if (row.kind.find("global") != row.kind.npos)
      continue;
    INFO(row.kind << " in line " << row.line << " of the PTX: " << row.units << " wavefronts, " << row.ideal
                  << " at best");
    CHECK(row.ratio() <= mostOf(row.kind));
  }
  CHECK_FALSE(sums.empty());
  std::string line = name + ":";
  for (const auto &[kind, sum] : sums) {
    line += fmt::format(" {} {:.2f}", kind, sum.ratio());
    INFO(kind << ": " << sum.units << " units, " << sum.ideal << " at best");
    CHECK(sum.ratio() <= mostOf(kind));
  }
  fmt::print("  {}\n", line);
}

/// A product in one kernel: A is m x k, or k x m if transposed; B is k x n or n x k.
struct Product {
  int64_t m, n, k, tile;
  std::string factor, result;
  bool transposesA = false, transposesB = false;
  std::string stored = ""; // the type of the stored results; empty: `result`
};

std::string matrix(int64_t rows, int64_t columns, const std::string &element) {
  return fmt::format("tensor<{}x{}x{}>", rows, columns, element);
}

/// The types of `p`: its operands and its product.
std::string nameOf(const std::string &kind, const Product &p) {
  return fmt::format("{} {}x{}x{} {} to {}, tile {}, {}{}", kind, p.m, p.n, p.k, p.factor,
                     p.stored.empty() ? p.result : p.stored, p.tile, p.transposesA ? "T" : "N",
                     p.transposesB ? "T" : "N");
}

std::string contractionOf(const Product &p) {
  return fmt::format(
      "  %0 = halftone.contract %x, %y {{lhs_contract = array<i64: {}>, rhs_contract = array<i64: {}>}} : "
      "({}, {}) -> {}\n",
      p.transposesA ? 0 : 1, p.transposesB ? 1 : 0,
      p.transposesA ? matrix(p.k, p.m, p.factor) : matrix(p.m, p.k, p.factor),
      p.transposesB ? matrix(p.n, p.k, p.factor) : matrix(p.k, p.n, p.factor), matrix(p.m, p.n, p.result));
}

/// The product alone.
std::string productOf(const Product &p) {
  const std::string a = p.transposesA ? matrix(p.k, p.m, p.factor) : matrix(p.m, p.k, p.factor),
                    b = p.transposesB ? matrix(p.n, p.k, p.factor) : matrix(p.k, p.n, p.factor),
                    r = matrix(p.m, p.n, p.result);
  return fmt::format("halftone.kernel matmul @k ({0}, {1}) -> ({2}) attributes {{spec = #halftone.blocks<tile = [{3}, "
                     "{3}]>}} {{\n^bb0(%x: {0}, %y: {1}):\n{4}  halftone.yield %0 : {2}\n}}",
                     a, b, r, p.tile, contractionOf(p));
}

/// A layer: the product stored in another type, its sums over rows, the largest element of each tile, and whether
/// columns are finite.
std::string layerOf(const Product &p) {
  const int64_t rowTiles = (p.m + p.tile - 1) / p.tile, columnTiles = (p.n + p.tile - 1) / p.tile;
  return with(R"(
halftone.kernel matmul @k ($X, $Y) -> ($S, $Q, $O, $F) attributes {spec = #halftone.blocks<tile = [$T, $T]>} {
^bb0(%x: $X, %y: $Y):
$C  %s = halftone.cast %0 {origin = "layer output"} : $R to $S
  %p = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: $T>} : $R -> $Q
  %o = halftone.partial_reduce max %0 {axes = array<i64: 0, 1>, tile = array<i64: $T, $T>} : $R -> $O
  %i = halftone.is_finite %0 : $R
  %f = halftone.partial_reduce and %i {axes = array<i64: 0>, tile = array<i64: $T>} : $I -> $F
  halftone.yield %s, %p, %o, %f : $S, $Q, $O, $F
})",
              {{"$X", matrix(p.m, p.k, p.factor)},
               {"$Y", matrix(p.k, p.n, p.factor)},
               {"$C", contractionOf(p)},
               {"$R", matrix(p.m, p.n, p.result)},
               {"$S", matrix(p.m, p.n, p.stored)},
               {"$Q", matrix(rowTiles, p.n, p.result == "f64" ? "f64" : "f32")},
               {"$O", matrix(rowTiles, columnTiles, p.result == "f64" ? "f64" : "f32")},
               {"$F", matrix(rowTiles, p.n, "i1")},
               {"$I", matrix(p.m, p.n, "i1")},
               {"$T", std::to_string(p.tile)}});
}

/// Rows with their sums subtracted; sums over the rows, and the largest element.
constexpr const char *rows = R"(
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

/// Squares, with sums that keep columns and the largest element.
constexpr const char *sides = R"(
halftone.kernel loop @k (tensor<$Mx$Nx$T>) -> (tensor<$Mx$Nx$T>, tensor<$Px$Nxf32>, tensor<$Px1xf32>)
    attributes {spec = #halftone.blocks<rows = 16>} {
^bb0(%x: tensor<$Mx$Nx$T>):
  %0 = halftone.mul %x, %x : tensor<$Mx$Nx$T>
  %1 = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 16>} : tensor<$Mx$Nx$T> -> tensor<$Px$Nxf32>
  %2 = halftone.partial_reduce max %x {axes = array<i64: 0, 1>, tile = array<i64: 16, $N>} : tensor<$Mx$Nx$T> -> tensor<$Px1xf32>
  halftone.yield %0, %1, %2 : tensor<$Mx$Nx$T>, tensor<$Px$Nxf32>, tensor<$Px1xf32>
})";

/// Sums of columns, and the index of the smallest element of each.
constexpr const char *columns = R"(
halftone.kernel loop @k (tensor<$Mx$Nx$T>) -> (tensor<$Nx$T>, tensor<$Nxi32>) {
^bb0(%x: tensor<$Mx$Nx$T>):
  %s = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<$Mx$Nx$T> -> tensor<$Nx$T>
  %a = halftone.arg_reduce min %x {axis = 0 : i64} : tensor<$Mx$Nx$T> -> tensor<$Nxi32>
  halftone.yield %s, %a : tensor<$Nx$T>, tensor<$Nxi32>
})";

/// Sums of columns alone; a thread has eight columns if their elements are narrow.
constexpr const char *narrow = R"(
halftone.kernel loop @k (tensor<$Mx$Nx$T>) -> (tensor<$Nx$T>, tensor<$Nx$T>) {
^bb0(%x: tensor<$Mx$Nx$T>):
  %s = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<$Mx$Nx$T> -> tensor<$Nx$T>
  %m = halftone.reduce max %x {axes = array<i64: 0>} : tensor<$Mx$Nx$T> -> tensor<$Nx$T>
  halftone.yield %s, %m : tensor<$Nx$T>, tensor<$Nx$T>
})";

/// The sum and the largest of all elements, per block.
constexpr const char *all = R"(
halftone.kernel loop @k (tensor<$Mx$Nx$T>) -> (tensor<$Px1x$A>, tensor<$Px1x$A>)
    attributes {spec = #halftone.blocks<rows = 16>} {
^bb0(%x: tensor<$Mx$Nx$T>):
  %s = halftone.partial_reduce sum %x {axes = array<i64: 0, 1>, tile = array<i64: 16, $N>} : tensor<$Mx$Nx$T> -> tensor<$Px1x$A>
  %m = halftone.partial_reduce max %x {axes = array<i64: 0, 1>, tile = array<i64: 16, $N>} : tensor<$Mx$Nx$T> -> tensor<$Px1x$A>
  halftone.yield %s, %m : tensor<$Px1x$A>, tensor<$Px1x$A>
})";

constexpr const char *turned = R"(
halftone.kernel loop @k (tensor<$Nx$Mx$T>, tensor<$Mx$Nx$T>) -> tensor<$Mx$Nx$T> {
^bb0(%x: tensor<$Nx$Mx$T>, %y: tensor<$Mx$Nx$T>):
  %t = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<$Nx$Mx$T> to tensor<$Mx$Nx$T>
  %0 = halftone.add %t, %y : tensor<$Mx$Nx$T>
  halftone.yield %0 : tensor<$Mx$Nx$T>
})";

constexpr const char *scan = R"(
halftone.kernel cumulative @k (tensor<$Mx$Nx$T>) -> tensor<$Mx$Nx$T> {
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

/// A kernel of m x n elements in blocks of 16 rows.
void check(const std::string &name, const char *text, int64_t m, int64_t n, const std::string &type,
           const Exceptions &exceptions = {}) {
  check(fmt::format("{} {}x{} {}", name, m, n, type),
        with(with(text, {{"$P", std::to_string((m + 15) / 16)}}), m, n, type), exceptions);
}

} // namespace

TEST_CASE("Products of whole tiles reach all banks and read whole sectors", "[wavefronts]") {
  for (const auto &[factor, result] : {std::pair{"f32", "f32"},
                                       {"f64", "f64"},
                                       {"f16", "f16"},
                                       {"f16", "f32"},
                                       {"bf16", "bf16"},
                                       {"i8", "i32"},
                                       {"i32", "i32"},
                                       {"i64", "i64"},
                                       {"f8E4M3FN", "f32"}})
    for (const int64_t tile : {32, 64, 128})
      for (const bool transposesA : {false, true})
        for (const bool transposesB : {false, true}) {
          const Product product{128, 128, 128, tile, factor, result, transposesA, transposesB};
          // A stage of 16 indices of K covers half a sector of each row of one-byte factors.
          const bool cutsSectors = product.factor == "f8E4M3FN" && tile > 32 && !(transposesA && !transposesB);
          check(nameOf("product", product), productOf(product),
                cutsSectors ? Exceptions{{"ld.global", 2.0}} : Exceptions{});
        }
}

TEST_CASE("Epilogues and partial reductions of products reach all banks", "[wavefronts]") {
  for (const auto &[factor, result, stored] : {std::tuple{"f32", "f32", "f32"},
                                               {"f32", "f32", "f16"},
                                               {"f32", "f32", "f8E5M2"},
                                               {"f64", "f64", "f64"},
                                               {"f64", "f64", "f16"},
                                               {"f16", "f32", "f32"},
                                               {"f16", "f16", "f16"},
                                               {"bf16", "bf16", "bf16"}})
    for (const int64_t tile : {32, 64, 128}) {
      const Product layer{128, 128, 64, tile, factor, result, false, false, stored};
      // Partial results are written 32 or 64 bytes per thread, 16 at a time.
      check(nameOf("layer", layer), layerOf(layer), {{"st.global", 1.25}});
    }
}

TEST_CASE("Products with ragged edges reach all banks", "[wavefronts]") {
  for (const auto &[factor, result] : {std::pair{"f32", "f32"}, {"f16", "f16"}, {"bf16", "f32"}, {"i8", "i32"}})
    for (const int64_t tile : {32, 64, 128}) {
      // A thread reads a 16-byte chunk of narrow factors element by element if chunks are not vectors in memory. The
      // other elements of the sector are read next, from the L1 cache. Rows with an odd number of elements begin within
      // a sector, and multiply-adds store elements along K, which lie in 8 of the 32 banks.
      const Product odd{90, 77, 70, tile, factor, result}, even{90, 88, 80, tile, factor, result};
      check(nameOf("product", odd), productOf(odd), {{"ld.global", 10.7}, {"st.global", 1.6}, {"st.shared", 4.0}});
      check(nameOf("product", even), productOf(even),
            {{"ld.global", 15.1}, {"st.global", 1.3}, {"cp.async.global", 1.2}});
    }
}

TEST_CASE("Epilogues and partial reductions of ragged products reach all banks", "[wavefronts]") {
  for (const auto &[factor, result, stored] :
       {std::tuple{"f32", "f32", "f32"}, {"f64", "f64", "f16"}, {"f16", "f16", "f16"}})
    for (const int64_t tile : {12, 24, 32, 64, 128})
      for (const int64_t n : {72, 77}) {
        const Product layer{70, n, 40, tile, factor, result, false, false, stored};
        check(nameOf("layer", layer), layerOf(layer),
              {{"ld.global", 11}, {"st.global", 2.1}, {"cp.async.global", 1.2}});
      }
}

TEST_CASE("Row kernels reach all banks and read whole sectors", "[wavefronts]") {
  for (const char *type : {"f32", "f16", "bf16"})
    for (const int64_t n : {64, 384, 1000, 1024, 10000})
      check("rows", rows, 64, n, type);
}

TEST_CASE("Loops with partial reductions reach all banks and read whole sectors", "[wavefronts]") {
  for (const char *type : {"f32", "f16", "bf16"})
    for (const int64_t n : {16, 32, 64, 384, 1024})
      check("sides", sides, 128, n, type);
}

TEST_CASE("Reductions of columns and of all elements reach all banks and read whole sectors", "[wavefronts]") {
  for (const char *type : {"f32", "f64", "f16", "bf16", "i8", "i64"})
    for (const int64_t n : {16, 32, 64, 384})
      check("columns", columns, 256, n, type), check("sums of columns", narrow, 256, n, type);
  for (const auto &[type, sum] : {std::pair{"f32", "f32"}, {"f64", "f64"}, {"f16", "f32"}, {"bf16", "f32"}})
    for (const int64_t n : {16, 32, 64, 384})
      check("all", with(all, {{"$A", sum}}).c_str(), 128, n, type);
}

TEST_CASE("Transposed operands reach all banks and read whole sectors", "[wavefronts]") {
  for (const char *type : {"f32", "f64", "f16", "bf16", "i64"})
    check("turned", turned, 128, 128, type);
  // With vectors of 8 bytes, one row of threads uses half of the banks.
  check("turned", turned, 128, 128, "i8", {{"ld.shared", 2.0}});
  // Threads of a warp that cover several rows and columns of a small square write a diagonal to one bank.
  for (const char *type : {"f32", "f16"})
    for (const auto &[m, n] : {std::pair{8, 64}, {16, 64}, {64, 8}, {64, 16}, {4, 128}})
      check("turned", turned, m, n, type, {{"ld.shared", 2.0}, {"st.shared", 4.0}, {"ld.global", 2.0}});
}

TEST_CASE("Scans and scatters read whole sectors", "[wavefronts]") {
  for (const char *type : {"f32", "f64", "f16", "i8"})
    for (const char *axis : {"0", "1"})
      check(std::string("scan along ") + axis, with(scan, {{"$A", axis}}).c_str(), 128, 256, type);
  for (const char *type : {"f32", "f64"})
    check("scatter", scatter, 16, 256, type);
}
