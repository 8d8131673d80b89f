// Compares products with packed weights, and loops that store panels, with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "ForcedTargets.h"
#include "runtime/devices/CpuDevice.h"
#include "tools/halftone-run/InputSpec.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::tools;

namespace {

void check(const std::string &text, const std::string &target, bool strict, int threads = 2) {
  INFO(target << (strict ? ", strict\n" : ", fast\n") << text);
  StatusOr<ModuleFile> file = parseModule(text, "packed");
  INFO(file.status().str());
  REQUIRE(file.isOk());
  std::vector<Tensor> feeds;
  for (const Parameter &feed : file->signature.feeds)
    feeds.push_back(randomTensor(feed, 3));
  VariableTensors variables;
  for (const DeclaredVariable &variable : file->variables)
    variables[variable.symbol] = initialValue(variable, 3);
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

/// x . w; and, summed over the other axis of w, x . w^T.
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

} // namespace

TEST_CASE("products with packed weights: any number of rows, columns that are no whole panels, long sums") {
  if (!Zen4::runs()) {
    WARN(Zen4::target << " does not run here");
    return;
  }
  for (int64_t m : {1, 2, 3, 7, 19, 40})
    for (bool transposed : {false, true})
      check(product(m, transposed ? 352 : 48, transposed ? 48 : 352, transposed), Zen4::target, false);
  check(product(5, 2080, 16, false), Zen4::target, false);   // K in several parts
  check(product(5, 80, 2080, true), Zen4::target, false, 3); // more blocks than threads
  check(product(7, 130, 131, false), Zen4::target, false);   // not packed
  check(product(7, 48, 352, false), Zen4::target, true);
  check(product(7, 48, 352, false), "x86-64-v3", false);
}

TEST_CASE("packed weights in kernels whose rows or columns are several axes") {
  if (!Zen4::runs()) {
    WARN(Zen4::target << " does not run here");
    return;
  }
  // The rows or columns of y are two axes, of which one has factors of its own.
  for (int64_t m : {2, 6, 26})
    for (bool depthFirst : {true, false})
      for (bool splitsRows : {true, false}) {
        const std::string parts = splitsRows ? fmt::format("2x{}x48", m / 2) : fmt::format("{}x3x16", m);
        const std::string packed = fmt::format("tensor<{}xbf16, #halftone.panels<depth = {}, columns = 16, group = 2>>",
                                               depthFirst ? "1058x48" : "48x1058", depthFirst ? 0 : 1);
        check(fmt::format(R"(
    halftone.kernel loop @store (tensor<{3}xbf16>) -> {0} {{
    ^bb0(%v: tensor<{3}xbf16>):
      %0 = halftone.pack %v : tensor<{3}xbf16> to {0}
      halftone.yield %0 : {0}
    }}
    halftone.kernel matmul @multiply (tensor<{1}x1058xbf16>, {0}, tensor<{5}xf32>) -> tensor<{2}xf32> {{
    ^bb0(%x: tensor<{1}x1058xbf16>, %w: {0}, %s: tensor<{5}xf32>):
      %0 = halftone.contract %x, %w {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: {4}>}} : (tensor<{1}x1058xbf16>, {0}) -> tensor<{1}x48xf32>
      %1 = halftone.reshape %0 : tensor<{1}x48xf32> to tensor<{2}xf32>
      %2 = halftone.broadcast %s {{axes = array<i64: {6}>}} : tensor<{5}xf32> to tensor<{2}xf32>
      %3 = halftone.mul %1, %2 : tensor<{2}xf32>
      halftone.yield %3 : tensor<{2}xf32>
    }}
    func.func @main(%x: tensor<{1}x1058xbf16> {{halftone.name = "x"}}, %v: tensor<{3}xbf16> {{halftone.name = "v"}}, %s: tensor<{5}xf32> {{halftone.name = "s"}}) -> (tensor<{2}xf32> {{halftone.name = "y"}}) {{
      %0 = halftone.launch @store(%v) : (tensor<{3}xbf16>) -> {0}
      %1 = halftone.launch @multiply(%x, %0, %s) : (tensor<{1}x1058xbf16>, {0}, tensor<{5}xf32>) -> tensor<{2}xf32>
      return %1 : tensor<{2}xf32>
    }})",
                          packed, m, parts, depthFirst ? "1058x48" : "48x1058", depthFirst ? 0 : 1, splitsRows ? 2 : 3,
                          splitsRows ? 0 : 1),
              Zen4::target, false);
      }
}

TEST_CASE("one loop stores a matrix and its packed copies") {
  if (!Zen4::runs()) {
    WARN(Zen4::target << " does not run here");
    return;
  }
  // Rows in pairs, with an odd count of pairs left over; columns in pairs, no multiple of a vector's lanes.
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
  for (const Case &c :
       {Case{34, 48, 0}, Case{2, 16, 0}, Case{46, 528, 0}, Case{48, 34, 1}, Case{16, 2, 1}, Case{32, 520, 1}}) {
    std::string own = text;
    const std::pair<std::string, int64_t> words[] = {{"ROWS", c.rows},
                                                     {"COLUMNS", c.columns},
                                                     {"DEPTH", c.depth},
                                                     {"5xK", c.depth == 0 ? c.rows : c.columns},
                                                     {"5xN", c.depth == 0 ? c.columns : c.rows}};
    for (const auto &[word, number] : words)
      for (size_t at = own.find(word); at != std::string::npos; at = own.find(word))
        own.replace(at, word.size(), (word[0] == '5' ? "5x" : "") + std::to_string(number));
    check(own, Zen4::target, false);
  }
}
