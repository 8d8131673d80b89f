// Compiles programs for a target, runs them on it, and interprets them.
// SPDX-License-Identifier: Apache-2.0
#include "OpChecks.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::tools;

static void checkDifferences(const Comparison &comparison) {
  for (const std::string &line : differencesOf(comparison))
    FAIL_CHECK(line);
}

StatusOr<Comparison> test::compareCases(const std::vector<OpCase> &cases, const std::string &target, bool strict) {
  StatusOr<ModuleFile> file = parseModule(moduleOf(cases), "ops");
  HALFTONE_RETURN_IF_ERROR(file.status());
  VariableTensors variables;
  CompareOptions options = optionsFor(target, strict);
  if (target.starts_with("sm_"))
    options.steps = 3; // the emulated driver draws another order of warps and blocks per launch
  return compareWithInterpreter(*file, feedsOf(cases), variables, deviceFor(target), options);
}

void test::check(const std::vector<OpCase> &cases, const std::string &target, bool strict) {
  StatusOr<Comparison> all = compareCases(cases, target, strict);
  INFO(target << (strict ? ", strict" : ", fast"));
  if (!all.isOk() && cases.size() > 1) { // find the failing case
    INFO("together: " << all.status().str());
    bool found = false;
    for (const OpCase &each : cases)
      if (StatusOr<Comparison> one = compareCases({each}, target, strict); !one.isOk()) {
        found = true;
        UNSCOPED_INFO(one.status().diagnostics().substr(0, 2000));
        FAIL_CHECK(each.label << ": " << one.status().str());
      }
    if (!found)
      FAIL_CHECK("each by itself compiles");
    return;
  }
  REQUIRE(all.isOk());
  checkDifferences(*all);
  CHECK(all->outputs.size() == cases.size());
  const bool isEmpty =
      std::all_of(cases.begin(), cases.end(), [](const OpCase &each) { return each.result.starts_with("0x"); });
  CHECK(all->launches.empty() == isEmpty);
}

void test::checkProgram(const std::string &text, const std::string &target, bool strict, uint32_t seed) {
  INFO("seed " << seed << ", " << target << (strict ? ", strict\n" : ", fast\n") << text);
  StatusOr<Comparison> comparison = compareProgram(text, optionsFor(target, strict), seed);
  INFO(comparison.status().str());
  REQUIRE(comparison.isOk());
  checkDifferences(*comparison);
}

std::string test::longSumProgram(int64_t depth) {
  return fmt::format(R"(
halftone.variable @w : tensor<{0}x6xf32> {{path = "w"}}
func.func @main(%x: tensor<3x{0}xf32> {{halftone.name = "x"}}, %b: tensor<6xf16> {{halftone.name = "b"}}, %g: tensor<{0}x6xf16> {{halftone.name = "g"}})
    -> (tensor<3x6xf16> {{halftone.name = "y"}}, tensor<3x6xf16> {{halftone.name = "z"}}, tensor<6xf32> {{halftone.name = "s"}}) {{
  %w = halftone.read @w : tensor<{0}x6xf32>
  %wn = halftone.cast %w {{origin = "variable read"}} : tensor<{0}x6xf32> to tensor<{0}x6xf16>
  %xn = halftone.cast %x {{origin = "layer input"}} : tensor<3x{0}xf32> to tensor<3x{0}xf16>
  %0 = halftone.contract %xn, %wn {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}} : (tensor<3x{0}xf16>, tensor<{0}x6xf16>) -> tensor<3x6xf16>
  %1 = halftone.broadcast %b {{axes = array<i64: 1>}} : tensor<6xf16> to tensor<3x6xf16>
  %2 = halftone.add %0, %1 : tensor<3x6xf16>
  %y = halftone.relu %2 : tensor<3x6xf16>
  %n = halftone.iota {{axis = 1 : i64}} : tensor<3x{0}xi32>
  %half = halftone.constant dense<{1}> : tensor<3x{0}xi32>
  %first = halftone.compare lt %n, %half : tensor<3x{0}xi32>
  %large = halftone.constant dense<6.0e+04> : tensor<3x{0}xf16>
  %negative = halftone.neg %large : tensor<3x{0}xf16>
  %zs = halftone.select %first, %large, %negative : tensor<3x{0}xf16>
  %unit = halftone.sign %g : tensor<{0}x6xf16>
  %ones = halftone.abs %unit : tensor<{0}x6xf16>
  %z = halftone.contract %zs, %ones {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}} : (tensor<3x{0}xf16>, tensor<{0}x6xf16>) -> tensor<3x6xf16>
  %yw = halftone.cast %y : tensor<3x6xf16> to tensor<3x6xf32>
  %s = halftone.reduce sum %yw {{axes = array<i64: 0>}} : tensor<3x6xf32> -> tensor<6xf32>
  return %y, %z, %s : tensor<3x6xf16>, tensor<3x6xf16>, tensor<6xf32>
}})",
                     depth, depth / 2);
}

void test::checkEqualSums(const std::string &target, bool strict) {
  StatusOr<ModuleFile> file = parseModule(R"(
func.func @main(%row: tensor<2x50021xf32> {halftone.name = "row"}, %columns: tensor<40000x3xf32> {halftone.name = "columns"},
                %middle: tensor<2x20011x5xf32> {halftone.name = "middle"}, %first: tensor<9x3000x5xf32> {halftone.name = "first"}, %all: tensor<70001xf32> {halftone.name = "all"},
                %odd: tensor<1000x7x7x3xf32> {halftone.name = "odd"}, %wide: tensor<3001x37xf32> {halftone.name = "wide"})
    -> (tensor<2xf32> {halftone.name = "y0"}, tensor<3xf32> {halftone.name = "y1"}, tensor<2x5xf32> {halftone.name = "y2"}, tensor<5xf32> {halftone.name = "y3"}, tensor<f32> {halftone.name = "y4"}, tensor<3xf32> {halftone.name = "y5"}, tensor<37xf32> {halftone.name = "y6"}, tensor<f32> {halftone.name = "y7"}, tensor<2x50021xf32> {halftone.name = "y8"}, tensor<3xf32> {halftone.name = "y9"}) {
  %0 = halftone.reduce sum %row {axes = array<i64: 1>} : tensor<2x50021xf32> -> tensor<2xf32>
  %1 = halftone.reduce sum %columns {axes = array<i64: 0>} : tensor<40000x3xf32> -> tensor<3xf32>
  %2 = halftone.reduce sum %middle {axes = array<i64: 1>} : tensor<2x20011x5xf32> -> tensor<2x5xf32>
  %3 = halftone.reduce sum %first {axes = array<i64: 0, 1>} : tensor<9x3000x5xf32> -> tensor<5xf32>
  %4 = halftone.reduce sum %all {axes = array<i64: 0>} : tensor<70001xf32> -> tensor<f32>
  %5 = halftone.reduce sum %odd {axes = array<i64: 0, 1, 2>} : tensor<1000x7x7x3xf32> -> tensor<3xf32>
  %6 = halftone.reduce sum %wide {axes = array<i64: 0>} : tensor<3001x37xf32> -> tensor<37xf32>
  %7 = halftone.mul %wide, %wide : tensor<3001x37xf32>
  %8 = halftone.reduce sum %7 {axes = array<i64: 0, 1>} : tensor<3001x37xf32> -> tensor<f32>
  %9 = halftone.broadcast %0 {axes = array<i64: 0>} : tensor<2xf32> to tensor<2x50021xf32>
  %10 = halftone.div %row, %9 : tensor<2x50021xf32>
  %11 = halftone.reduce sum %columns {axes = array<i64: 0>} : tensor<40000x3xf32> -> tensor<3xf32>
  %12 = halftone.mul %columns, %columns : tensor<40000x3xf32>
  %13 = halftone.reduce sum %12 {axes = array<i64: 0>} : tensor<40000x3xf32> -> tensor<3xf32>
  %14 = halftone.add %11, %13 : tensor<3xf32>
  return %0, %1, %2, %3, %4, %5, %6, %8, %10, %14 : tensor<2xf32>, tensor<3xf32>, tensor<2x5xf32>, tensor<5xf32>, tensor<f32>, tensor<3xf32>, tensor<37xf32>, tensor<f32>, tensor<2x50021xf32>, tensor<3xf32>
})",
                                          "sums");
  INFO(target << (strict ? ", strict" : ", fast"));
  REQUIRE(file.isOk());
  std::vector<Tensor> feeds;
  for (const Parameter &feed : file->signature.feeds)
    feeds.push_back(Tensor::full(Shape(feed.type.shape), 0.1));
  VariableTensors variables;
  StatusOr<Comparison> comparison =
      compareWithInterpreter(*file, feeds, variables, deviceFor(target), optionsFor(target, strict));
  INFO(comparison.status().str());
  REQUIRE(comparison.isOk());
  CHECK(comparison->outputs.size() == 10);
  checkDifferences(*comparison);
}

std::vector<OpCase> test::only(std::vector<OpCase> cases, const std::set<std::string> &ops) {
  std::erase_if(cases, [&](const OpCase &each) { return !ops.contains(each.op); });
  return cases;
}

std::vector<OpCase> test::without(std::vector<OpCase> cases, const std::set<std::string> &ops) {
  std::erase_if(cases, [&](const OpCase &each) { return ops.contains(each.op); });
  return cases;
}

const std::set<std::string> test::transcendental = {
    "exp",   "exp2",  "expm1", "log",  "log2", "log10",    "log1p", "rsqrt", "cbrt", "tanh", "sinh", "cosh", "asinh",
    "acosh", "atanh", "asin",  "acos", "atan", "logistic", "erf",   "sin",   "cos",  "tan",  "pow",  "atan2"};
