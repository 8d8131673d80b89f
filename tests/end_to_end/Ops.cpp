// Every op with every dtype: interpreter and compiled code agree, and are bit-identical in strict mode for exact ops.
// SPDX-License-Identifier: Apache-2.0
#include "OpChecks.h"
#include "RandomOps.h"
#include "dialect/Dialect.h"
#include <catch2/catch.hpp>
#include <map>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::tools;

namespace {

std::vector<OpCase> wholeTable() {
  std::vector<OpCase> all;
  for (const auto &cases :
       {elementwiseCases("3x"), castCases("3x"), sourceCases(), shapeCases(), indexingCases(), reductionCases(),
        scanCases(), sortCases(), contractionCases(), windowCases(), convolutionCases(), attentionCases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

} // namespace

TEST_CASE("each op of the dialect is in the table, or its definition says why it is not") {
  std::map<std::string, OpCase> listed;
  for (const OpCase &each : wholeTable())
    listed.emplace(each.op, each);
  StatusOr<ModuleFile> file = parseModule("func.func @main() { return }", "empty");
  REQUIRE(file.isOk());
  size_t ops = 0;
  for (mlir::RegisteredOperationName name : file->context->getRegisteredOperationsByDialect("halftone")) {
    const std::string op = name.stripDialect().str();
    INFO(op);
    ++ops;
    CHECK(listed.contains(op) != name.hasTrait<dialect::NotComparedAlone>());
    // They are expanded into ops that have gradients, or their gradient comes from the ops in their regions.
    const bool isOfItsOps = op == "attention_grad" || op == "when" || op == "scan";
    CHECK((name.hasInterface<dialect::GradientOpInterface>() || isOfItsOps) != name.hasTrait<dialect::NoGradient>());
    if (name.hasInterface<dialect::ComputeOpInterface>() && listed.contains(op)) {
      // The interpreter has a case for the op; comparisons with compiled code use it too.
      StatusOr<Comparison> compared = compareCases({listed.at(op)}, "host", false);
      INFO(compared.status().str());
      CHECK(compared.isOk());
    }
  }
  CHECK(ops > 60);
}

TEST_CASE("the ops that the table compares by intervals are those which say that they are inexact") {
  StatusOr<ModuleFile> file = parseModule(moduleOf(elementwiseCases("3x")), "ops");
  REQUIRE(file.isOk());
  file->module->walk([&](dialect::ElementwiseOpInterface op) {
    const std::string name = op->getName().stripDialect().str();
    INFO(name);
    CHECK(mlir::cast<dialect::ComputeOpInterface>(*op).isExact() != transcendental.contains(name));
  });
}

TEMPLATE_TEST_CASE("transcendental ops compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Full<V2>,
                   Full<Strict<V3>>, Full<Fast<V4>>) {
  checkModes<TestType>(only(elementwiseCases("3x67x"), transcendental));
}
TEMPLATE_TEST_CASE("comparisons compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Full<V2>,
                   Full<Strict<V3>>, Full<Fast<V4>>) {
  checkModes<TestType>(only(elementwiseCases("3x67x"), {"compare", "is_finite"}));
}
TEMPLATE_TEST_CASE("arithmetic ops compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Full<V2>,
                   Full<Strict<V3>>, Full<Fast<V4>>) {
  checkModes<TestType>(without(without(elementwiseCases("3x67x"), {"compare", "is_finite"}), transcendental));
}
TEMPLATE_TEST_CASE("casts compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Full<V2>,
                   Full<Strict<V3>>, Full<Fast<V4>>) {
  checkModes<TestType>(castCases("5x23x"));
}
TEMPLATE_TEST_CASE("ops without operands compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Full<V2>,
                   Full<Strict<V3>>, Full<Fast<V4>>) {
  checkModes<TestType>(sourceCases());
}
TEMPLATE_TEST_CASE("shape ops compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Full<V2>,
                   Full<Strict<V3>>, Full<Fast<V4>>) {
  checkModes<TestType>(shapeCases());
}
TEMPLATE_TEST_CASE("slices, concatenations and lookups compute what the interpreter says", "", Host, Fast<V3>,
                   Strict<V4>, Full<V2>, Full<Strict<V3>>, Full<Fast<V4>>) {
  checkModes<TestType>(indexingCases());
}
TEMPLATE_TEST_CASE("reductions compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Full<V2>,
                   Full<Strict<V3>>, Full<Fast<V4>>) {
  checkModes<TestType>(reductionCases());
}
TEMPLATE_TEST_CASE("sums along an axis compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Full<V2>,
                   Full<Strict<V3>>, Full<Fast<V4>>) {
  checkModes<TestType>(scanCases());
}
TEMPLATE_TEST_CASE("sorts compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Full<V2>,
                   Full<Strict<V3>>, Full<Fast<V4>>) {
  checkModes<TestType>(sortCases());
}
TEMPLATE_TEST_CASE("contractions compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Fast<Zen4>,
                   Full<V2>, Full<Strict<V3>>, Full<Fast<V4>>, Full<Strict<Zen4>>) {
  checkModes<TestType>(contractionCases());
}

TEMPLATE_TEST_CASE("windows compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Full<V2>,
                   Full<Strict<V3>>, Full<Fast<V4>>) {
  checkModes<TestType>(windowCases());
}
TEMPLATE_TEST_CASE("convolutions compute what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Fast<Zen4>,
                   Full<V2>, Full<Strict<V3>>, Full<Fast<V4>>, Full<Strict<Zen4>>) {
  checkModes<TestType>(convolutionCases());
}

TEMPLATE_TEST_CASE("attention computes what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Fast<Zen4>, Full<V2>,
                   Full<Strict<V3>>, Full<Fast<V4>>, Full<Strict<Zen4>>) {
  checkModes<TestType>(only(attentionCases(), {"attention"}));
}
TEMPLATE_TEST_CASE("gradients of attention are what the interpreter says", "", Host, Fast<V3>, Strict<V4>, Fast<Zen4>,
                   Full<V2>, Full<Strict<V3>>, Full<Fast<V4>>, Full<Strict<Zen4>>) {
  checkModes<TestType>(only(attentionCases(), {"attention_grad"}));
}

TEST_CASE("elementwise ops on scalars, one element, none and many") {
  for (const char *shape : {"", "1x", "0x5x"})
    check(elementwiseCases(shape), "host", false);
  check(only(elementwiseCases("40001x"), {"add", "exp", "compare"}), "host", false);
}

TEST_CASE("one value as all operands of an elementwise op") {
  for (const char *shape : {"", "1x1x", "3x67x"}) {
    std::vector<OpCase> cases = without(elementwiseCases(shape), transcendental);
    for (OpCase &each : cases)
      for (OpOperand &operand : each.operands)
        operand.index = 0;
    check(cases, "host", false);
  }
}

TEST_CASE("extents of 0 and 1 in every position, one value as both operands") {
  const std::string dtype = GENERATE("f32", "bf16", "f64", "i8", "i1", "f8E4M3FN");
  check(degenerateCases(dtype), "host", true);
  check(degenerateCases(dtype), "host", false);
}

TEMPLATE_TEST_CASE("extents of 0 and 1 on each CPU", "", Fast<V3>, Strict<V4>, Fast<Zen4>, Full<V2>, Full<Strict<V3>>,
                   Full<Fast<V4>>, Full<Strict<Zen4>>) {
  checkModes<TestType>(degenerateCases("bf16"));
}

TEMPLATE_TEST_CASE("random programs compute what the interpreter says", "", Host, Full<V2>, V3, Full<V4>, Zen4) {
  if (!TestType::runs()) {
    WARN(TestType::target << " does not run here");
    return;
  }
  for (uint32_t i = 1; i <= 30; ++i) {
    const uint32_t seed = Catch::rngSeed() * 1000 + i; // --rng-seed selects other seeds
    checkProgram(randomOps(seed, 10 + int(seed % 3) * 15), TestType::target, seed % 5 == 0, seed);
  }
}

TEST_CASE("an operand read with and without an axis of one element") {
  checkProgram(R"(func.func @main(%x: tensor<4x4xf32> {halftone.name = "x"}) -> (tensor<13xf32> {halftone.name = "y"}) {
  %0 = halftone.cast %x : tensor<4x4xf32> to tensor<4x4xi32>
  %1 = halftone.scatter_add %0, %x {axis = 0 : i64} : (tensor<4x4xi32>, tensor<4x4xf32>) -> tensor<13xf32>
  return %1 : tensor<13xf32>
})",
               "host", false, 1);
  checkProgram(R"(func.func @main(%x: tensor<1x1xf32> {halftone.name = "x"}, %t: tensor<200xbf16> {halftone.name = "t"})
    -> (tensor<1x1xf32> {halftone.name = "y"}, tensor<1x1xbf16> {halftone.name = "z"}) {
  %0 = halftone.mul %x, %x : tensor<1x1xf32>
  %1 = halftone.cast %0 : tensor<1x1xf32> to tensor<1x1xi32>
  %2 = halftone.gather %t, %1 {axis = 0 : i64} : (tensor<200xbf16>, tensor<1x1xi32>) -> tensor<1x1xbf16>
  return %0, %2 : tensor<1x1xf32>, tensor<1x1xbf16>
})",
               "host", false, 1);
}

TEST_CASE("one computed value as both operands of a contraction") {
  for (const bool strict : {false, true}) {
    checkProgram(R"(func.func @main(%x: tensor<21xf32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "y"}) {
  %0 = halftone.abs %x : tensor<21xf32>
  %1 = halftone.contract %0, %0 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<21xf32>, tensor<21xf32>) -> tensor<f32>
  return %1 : tensor<f32>
})",
                 "host", strict, 1);
    checkProgram(
        R"(func.func @main(%x: tensor<6x1xbf16> {halftone.name = "x"}) -> (tensor<1x1x1xbf16> {halftone.name = "y"}) {
  %0 = halftone.mul %x, %x : tensor<6x1xbf16>
  %1 = halftone.broadcast %0 {axes = array<i64: 0, 2>} : tensor<6x1xbf16> to tensor<6x1x1xbf16>
  %2 = halftone.contract %0, %1 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<6x1xbf16>, tensor<6x1x1xbf16>) -> tensor<1x1x1xbf16>
  return %2 : tensor<1x1x1xbf16>
})",
        "host", strict, 1);
  }
}

TEST_CASE("random numbers of another shape join no row kernel") {
  checkProgram(
      R"(func.func @main(%x: tensor<17x32xf32> {halftone.name = "x"}, %z: tensor<100xf32> {halftone.name = "z"},
    %key: tensor<2xui32> {halftone.name = "key"}) -> (tensor<100xf32> {halftone.name = "y"}) {
  %0 = halftone.reduce sum %x {axes = array<i64: 0, 1>} : tensor<17x32xf32> -> tensor<f32>
  %1 = halftone.broadcast %0 {axes = array<i64>} : tensor<f32> to tensor<100xf32>
  %2 = halftone.random_bits %key : tensor<2xui32> -> tensor<100xui32>
  %3 = halftone.cast %2 : tensor<100xui32> to tensor<100xf32>
  %4 = halftone.mul %3, %z : tensor<100xf32>
  %5 = halftone.mul %1, %4 : tensor<100xf32>
  return %5 : tensor<100xf32>
})",
      "host", false, 1);
}

TEMPLATE_TEST_CASE("values rounded from f64 keep their sign", "", Host, Full<V2>, V3, Full<V4>) {
  if (!TestType::runs()) {
    WARN(TestType::target << " does not run here");
    return;
  }
  checkProgram(
      R"(func.func @main(%x: tensor<130x2xf16> {halftone.name = "x"}) -> (tensor<130x2xf16> {halftone.name = "y"}) {
  %0 = halftone.cos %x : tensor<130x2xf16>
  %1 = halftone.tanh %0 : tensor<130x2xf16>
  return %1 : tensor<130x2xf16>
})",
      TestType::target, false, 1);
}
