// Compares products with packed weights, and loops that store panels, with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "ForcedTargets.h"
#include "runtime/devices/CpuDevice.h"
#include "tools/halftone-run/InputSpec.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <functional>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::tools;

namespace {

/// The CPUs on this machine that use such panels.
std::vector<std::string> packingTargets() {
  std::vector<std::string> targets;
  if (Zen4::runs())
    targets.emplace_back(Zen4::target);
  else
    WARN(Zen4::target << " does not run here");
  if (SapphireRapids::runs())
    targets.emplace_back(SapphireRapids::target);
  else
    WARN(SapphireRapids::target << " does not run here");
  return targets;
}

void check(const std::string &text, const std::string &target, bool strict, int threads = 2,
           const VariableTensors &given = {}) {
  INFO(target << (strict ? ", strict\n" : ", fast\n") << text);
  StatusOr<ModuleFile> file = parseModule(text, "packed");
  INFO(file.status().str());
  REQUIRE(file.isOk());
  std::vector<Tensor> feeds;
  for (const Parameter &feed : file->signature.feeds)
    feeds.push_back(randomTensor(feed, 3));
  VariableTensors variables;
  for (const DeclaredVariable &variable : file->variables)
    variables[variable.symbol] =
        given.contains(variable.symbol) ? given.at(variable.symbol) : initialValue(variable, 3);
  CompareOptions options = optionsFor(target, strict);
  options.steps = 2;
  StatusOr<std::shared_ptr<CpuDevice>> device = CpuDevice::create(threads);
  REQUIRE(device.isOk());
  StatusOr<Comparison> comparison = compareWithInterpreter(*file, feeds, variables, *device, options);
  INFO(comparison.status().str());
  REQUIRE(comparison.isOk());
  for (const LaunchComparison &launch : comparison->launches)
    CHECK(launch.difference.agrees());
  CHECK(comparison->agrees());
}

/// The element types of matrices and of their products, and the number of matrix elements in a group.
struct Elements {
  const char *element, *sum;
  int64_t group;
};
constexpr Elements pairs{"bf16", "f32", 2}, fours{"i8", "i32", 4};

std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>> &words) {
  for (const auto &[word, other] : words)
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + other.size()))
      text.replace(at, word.size(), other);
  return text;
}

/// Rewrites a text about bf16 pairs for other elements.
std::string ofElements(const Elements &elements, const std::string &text) {
  return replaced(
      text,
      {{"f32", elements.sum}, {"bf16", elements.element}, {"group = 2", fmt::format("group = {}", elements.group)}});
}

/// x . w; and x . w^T, summed over the other axis of w.
std::string product(int64_t m, int64_t rows, int64_t columns, bool transposed) {
  const int64_t k = transposed ? columns : rows, n = transposed ? rows : columns;
  return fmt::format(R"(
    halftone.variable @w : tensor<{1}x{2}xbf16> {{path = "w"}}
    func.func @main(%x: tensor<{0}x{3}xbf16> {{halftone.name = "x"}}) -> (tensor<{0}x{4}xf32> {{halftone.name = "y"}}) {{
      %w = halftone.read @w : tensor<{1}x{2}xbf16>
      %y = halftone.contract %x, %w {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: {5}>}}
          : (tensor<{0}x{3}xbf16>, tensor<{1}x{2}xbf16>) -> tensor<{0}x{4}xf32>
      return %y : tensor<{0}x{4}xf32>
    }})",
                     m, rows, columns, k, n, transposed ? 1 : 0);
}

/// A matrix of all byte values.
Tensor allBytes(int64_t rows, int64_t columns) {
  std::vector<int8_t> bytes(size_t(rows * columns));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = int8_t((i * 167 + i / 256) % 256);
  return {bytes, {rows, columns}};
}

/// x . w, where each byte of w holds two adjacent elements of a row. With `groups`, each row k of w has the scales and
/// the zero points of row @places[k].
std::string productOfHalves(const std::string &lhs, int64_t m, int64_t k, int64_t n, int64_t groups = 0) {
  const bool isWhole = lhs == "i8";
  const std::string halves = fmt::format("tensor<{}x{}x2xi8>", k, n / 2), matrix = fmt::format("tensor<{}x{}x", k, n);
  std::string text = fmt::format(R"(
    halftone.variable @w : tensor<{1}x{5}xi8> {{path = "w", trainable = false}}
)",
                                 m, k, n, halves, matrix, n / 2);
  if (groups > 0)
    text += fmt::format(R"(
    halftone.variable @places : tensor<{0}xf32> {{path = "places", trainable = false}}
    halftone.variable @scale : tensor<{1}x{2}x{3}> {{path = "scale", trainable = false}}
    halftone.variable @zero : tensor<{1}x{2}xi8> {{path = "zero", trainable = false}}
)",
                        k, groups, n, lhs);
  text += fmt::format(R"(
    func.func @main(%x: tensor<{0}x{1}x{6}> {{halftone.name = "x"}}) -> (tensor<{0}x{2}x{7}> {{halftone.name = "y"}}) {{
      %w = halftone.read @w : tensor<{1}x{5}xi8>
      %pairs = halftone.broadcast %w {{axes = array<i64: 0, 1>}} : tensor<{1}x{5}xi8> to {3}
      %lift = halftone.constant dense<[4, 0]> : tensor<2xi8>
      %up = halftone.broadcast %lift {{axes = array<i64: 2>}} : tensor<2xi8> to {3}
      %high = halftone.shl %pairs, %up : {3}
      %down = halftone.constant dense<4> : {3}
      %halves = halftone.shr %high, %down : {3}
      %0 = halftone.reshape %halves : {3} to {4}i8>
)",
                      m, k, n, halves, matrix, n / 2, lhs, isWhole ? "i32" : "f32");
  if (groups > 0)
    text += fmt::format(R"(
      %places = halftone.read @places : tensor<{0}xf32>
      %scales = halftone.read @scale : tensor<{1}x{2}x{3}>
      %zeros = halftone.read @zero : tensor<{1}x{2}xi8>
      %rows = halftone.cast %places : tensor<{0}xf32> to tensor<{0}xi32>
      %scale = halftone.gather %scales, %rows {{axis = 0 : i64}} : (tensor<{1}x{2}x{3}>, tensor<{0}xi32>) -> {4}{3}>
      %zero = halftone.gather %zeros, %rows {{axis = 0 : i64}} : (tensor<{1}x{2}xi8>, tensor<{0}xi32>) -> {4}i8>
      %wide = halftone.cast %0 : {4}i8> to {4}{3}>
      %wide_zero = halftone.cast %zero : {4}i8> to {4}{3}>
      %centered = halftone.sub %wide, %wide_zero : {4}{3}>
      %1 = halftone.mul %centered, %scale : {4}{3}>
)",
                        k, groups, n, lhs, matrix);
  else if (!isWhole)
    text += fmt::format("      %wide = halftone.cast %0 : {0}i8> to {0}{1}>\n"
                        "      %scale = halftone.constant dense<0.5> : {0}{1}>\n"
                        "      %1 = halftone.mul %wide, %scale : {0}{1}>\n",
                        matrix, lhs);
  return text + fmt::format(R"(
      %y = halftone.contract %x, %{0} {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}}
          : (tensor<{1}x{2}x{3}>, {4}{3}>) -> tensor<{1}x{5}x{6}>
      return %y : tensor<{1}x{5}x{6}>
    }})",
                            isWhole ? 0 : 1, m, k, lhs, matrix, n, isWhole ? "i32" : "f32");
}

} // namespace

TEST_CASE("products with packed weights: any number of rows, columns that are no whole panels, long sums") {
  for (const std::string &target : packingTargets())
    for (const Elements &elements : {pairs, fours}) {
      const auto checkProduct = [&](int64_t m, int64_t rows, int64_t columns, bool transposed, bool strict = false,
                                    int threads = 2) {
        check(ofElements(elements, product(m, rows, columns, transposed)), target, strict, threads);
      };
      for (int64_t m : {1, 2, 3, 4, 6, 7, 8, 9, 19, 40})
        for (bool transposed : {false, true})
          checkProduct(m, transposed ? 352 : 48, transposed ? 48 : 352, transposed);
      checkProduct(5, 8240, 16, false);          // several parts of K
      checkProduct(5, 80, 8240, true, false, 3); // more blocks than threads
      checkProduct(37, 1044, 32, false);         // groups after the last multiple of 16
      checkProduct(7, 130, 131, false);          // not packed
      checkProduct(7, 48, 352, false, true);
    }
  check(product(7, 48, 352, false), "x86-64-v3", false);
  check(ofElements(fours, product(7, 48, 352, false)), "x86-64-v3", false);
}

TEST_CASE("products with weights of four bits, two in a byte: any number of rows, long sums, strict mode") {
  std::vector<std::string> targets = packingTargets();
  targets.emplace_back("x86-64-v3");
  for (const std::string &target : targets)
    for (const std::string lhs : {"i8", "f32", "bf16"}) {
      const auto checkProduct = [&](int64_t m, int64_t k, int64_t n, bool strict = false, int threads = 2) {
        check(productOfHalves(lhs, m, k, n), target, strict, threads, {{"w", allBytes(k, n / 2)}});
      };
      for (int64_t m : {1, 2, 3, 7, 19, 40})
        checkProduct(m, 48, 352);
      checkProduct(5, 8240, 16);            // several parts of K
      checkProduct(1, 2064, 112, false, 7); // groups after the last multiple of 16; columns after the last whole panel
      checkProduct(3, 80, 8240, false, 3);
      checkProduct(7, 132, 176); // not packed: half a word would remain
      checkProduct(7, 1, 18);
      checkProduct(7, 48, 352, true);
      checkProduct(1, 48, 352, true);
    }
}

TEST_CASE("products with weights of four bits in blocks: rows of a word with equal and with different scales") {
  std::vector<std::string> targets = packingTargets();
  targets.emplace_back("x86-64-v3");
  constexpr int64_t k = 144, groups = 5;
  // Words within one block, words across blocks, and no order at all, with indices that are out of bounds.
  const std::vector<std::function<float(int64_t)>> orders{[](int64_t row) { return float(row / 32); },
                                                          [](int64_t row) { return float(row / 29); },
                                                          [](int64_t row) { return float(row * 37 % 9 - 2); }};
  for (const std::string &target : targets)
    for (const auto &order : orders) {
      std::vector<float> places(k);
      for (int64_t row = 0; row < k; ++row)
        places[size_t(row)] = order(row);
      for (const std::string lhs : {"f32", "bf16"})
        for (const int64_t m : {1, 3, 20})
          for (const bool strict : {false, true})
            check(productOfHalves(lhs, m, k, 112, groups), target, strict, 2,
                  {{"w", allBytes(k, 56)}, {"places", Tensor(places, {k})}});
    }
}

TEST_CASE("subnormal numbers count in products with packed weights") {
  for (const std::string &target : packingTargets())
    for (const size_t place : {0, 5000, 22527}) // the last one
      for (const int64_t m : {1, 19}) {
        std::vector<float> numbers(22528, 0.0f);
        numbers[place] = 0x1p-130f;
        const Tensor w = Tensor(numbers, {64, 352}).astype(bfloat16);
        check(product(m, 64, 352, false), target, false, 2, {{"w", w}});
      }
}

TEST_CASE("packed weights in kernels whose rows or columns are several axes") {
  // The rows or columns of y are two axes, one of which has its own factors.
  for (const std::string &target : packingTargets())
    for (const Elements &elements : {pairs, fours})
      for (int64_t m : {2, 6, 26})
        for (bool depthFirst : {true, false})
          for (bool splitsRows : {true, false}) {
            const std::string parts = splitsRows ? fmt::format("2x{}x48", m / 2) : fmt::format("{}x3x16", m);
            const std::string packed =
                fmt::format("tensor<{}xbf16, #halftone.panels<depth = {}, columns = 16, group = 2>>",
                            depthFirst ? "1060x48" : "48x1060", depthFirst ? 0 : 1);
            check(ofElements(elements, fmt::format(R"(
    halftone.kernel loop @store (tensor<{3}xbf16>) -> {0} {{
    ^bb0(%v: tensor<{3}xbf16>):
      %0 = halftone.pack %v : tensor<{3}xbf16> to {0}
      halftone.yield %0 : {0}
    }}
    halftone.kernel matmul @multiply (tensor<{1}x1060xbf16>, {0}, tensor<{5}xf32>) -> tensor<{2}xf32> {{
    ^bb0(%x: tensor<{1}x1060xbf16>, %w: {0}, %s: tensor<{5}xf32>):
      %0 = halftone.contract %x, %w {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: {4}>}} : (tensor<{1}x1060xbf16>, {0}) -> tensor<{1}x48xf32>
      %1 = halftone.reshape %0 : tensor<{1}x48xf32> to tensor<{2}xf32>
      %2 = halftone.broadcast %s {{axes = array<i64: {6}>}} : tensor<{5}xf32> to tensor<{2}xf32>
      %3 = halftone.mul %1, %2 : tensor<{2}xf32>
      halftone.yield %3 : tensor<{2}xf32>
    }}
    func.func @main(%x: tensor<{1}x1060xbf16> {{halftone.name = "x"}}, %v: tensor<{3}xbf16> {{halftone.name = "v"}}, %s: tensor<{5}xf32> {{halftone.name = "s"}}) -> (tensor<{2}xf32> {{halftone.name = "y"}}) {{
      %0 = halftone.launch @store(%v) : (tensor<{3}xbf16>) -> {0}
      %1 = halftone.launch @multiply(%x, %0, %s) : (tensor<{1}x1060xbf16>, {0}, tensor<{5}xf32>) -> tensor<{2}xf32>
      return %1 : tensor<{2}xf32>
    }})",
                                                   packed, m, parts, depthFirst ? "1060x48" : "48x1060",
                                                   depthFirst ? 0 : 1, splitsRows ? 2 : 3, splitsRows ? 0 : 1)),
                  target, false);
          }
}

TEST_CASE("one loop stores a matrix and its packed copies") {
  // Rows in groups, with an arbitrary number of groups; columns in groups, not a multiple of the lanes of a vector.
  const std::string text = R"(
    halftone.kernel loop @store (tensor<ROWSxCOLUMNSxf32>) -> (tensor<ROWSxCOLUMNSxf32>, tensor<ROWSxCOLUMNSxbf16, #halftone.panels<depth = DEPTH, columns = 16, group = 2>>) {
    ^bb0(%v: tensor<ROWSxCOLUMNSxf32>):
      %0 = halftone.neg %v : tensor<ROWSxCOLUMNSxf32>
      %1 = halftone.cast %0 : tensor<ROWSxCOLUMNSxf32> to tensor<ROWSxCOLUMNSxbf16>
      %2 = halftone.pack %1 : tensor<ROWSxCOLUMNSxbf16> to tensor<ROWSxCOLUMNSxbf16, #halftone.panels<depth = DEPTH, columns = 16, group = 2>>
      halftone.yield %0, %2 : tensor<ROWSxCOLUMNSxf32>, tensor<ROWSxCOLUMNSxbf16, #halftone.panels<depth = DEPTH, columns = 16, group = 2>>
    }
    halftone.kernel matmul @multiply (tensor<5xKxbf16>, tensor<ROWSxCOLUMNSxbf16, #halftone.panels<depth = DEPTH, columns = 16, group = 2>>) -> tensor<5xNxf32> {
    ^bb0(%x: tensor<5xKxbf16>, %w: tensor<ROWSxCOLUMNSxbf16, #halftone.panels<depth = DEPTH, columns = 16, group = 2>>):
      %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: DEPTH>} : (tensor<5xKxbf16>, tensor<ROWSxCOLUMNSxbf16, #halftone.panels<depth = DEPTH, columns = 16, group = 2>>) -> tensor<5xNxf32>
      halftone.yield %0 : tensor<5xNxf32>
    }
    func.func @main(%x: tensor<5xKxbf16> {halftone.name = "x"}, %v: tensor<ROWSxCOLUMNSxf32> {halftone.name = "v"}) -> (tensor<5xNxf32> {halftone.name = "y"}, tensor<ROWSxCOLUMNSxf32> {halftone.name = "w"}) {
      %0:2 = halftone.launch @store(%v) : (tensor<ROWSxCOLUMNSxf32>) -> (tensor<ROWSxCOLUMNSxf32>, tensor<ROWSxCOLUMNSxbf16, #halftone.panels<depth = DEPTH, columns = 16, group = 2>>)
      %1 = halftone.launch @multiply(%x, %0#1) : (tensor<5xKxbf16>, tensor<ROWSxCOLUMNSxbf16, #halftone.panels<depth = DEPTH, columns = 16, group = 2>>) -> tensor<5xNxf32>
      return %1, %0#0 : tensor<5xNxf32>, tensor<ROWSxCOLUMNSxf32>
    })";
  struct Case {
    int64_t rows, columns, depth;
  };
  for (const std::string &target : packingTargets())
    for (const Elements &elements : {pairs, fours})
      for (const Case &c :
           {Case{36, 48, 0}, Case{4, 16, 0}, Case{44, 528, 0}, Case{48, 36, 1}, Case{16, 4, 1}, Case{32, 520, 1}}) {
        const std::string k = std::to_string(c.depth == 0 ? c.rows : c.columns),
                          n = std::to_string(c.depth == 0 ? c.columns : c.rows);
        check(ofElements(elements, replaced(text, {{"ROWS", std::to_string(c.rows)},
                                                   {"COLUMNS", std::to_string(c.columns)},
                                                   {"DEPTH", std::to_string(c.depth)},
                                                   {"5xK", "5x" + k},
                                                   {"5xN", "5x" + n}})),
              target, false);
      }
}
