// The values that round for a decision. The interpreter expects compiled code to round them.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Decisions.h"
#include "Modules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

/// The names of the ops whose values a @main with this `body` must round. The body reads %x : tensor<4xf16> and
/// computes %r : tensor<`type`>.
static std::vector<std::string> roundedIn(const std::string &body, const std::string &type = "4xi1") {
  auto module =
      parse("halftone.variable @v : tensor<4xf16>\nfunc.func @main(%x: tensor<4xf16>, %p: tensor<i1>) -> tensor<" +
            type + "> {\n" + body + "\nreturn %r : tensor<" + type + ">\n}");
  std::vector<std::string> names;
  for (mlir::Value value : valuesToRound(module->lookupSymbol("main")))
    names.push_back(value.getDefiningOp()->getName().stripDialect().str());
  return names;
}

using Names = std::vector<std::string>;

TEST_CASE("valuesToRound finds the values that is_finite, compare, arg_reduce, steps and casts to integers read") {
  const std::string square = "%0 = halftone.mul %x, %x : tensor<4xf16>\n";
  for (auto [decision, type] : std::vector<std::pair<std::string, std::string>>{
           {"is_finite %0 : tensor<4xf16>", "4xi1"},
           {"compare lt %x, %0 : tensor<4xf16>", "4xi1"},
           {"arg_reduce min %0 {axis = 0 : i64} : tensor<4xf16> -> tensor<i32>", "i32"},
           {"reduce_all all_finite (%x, %0) : tensor<4xf16>, tensor<4xf16>", "i1"},
           {"cast %0 : tensor<4xf16> to tensor<4xi8>", "4xi8"},
           {"cast %0 : tensor<4xf16> to tensor<4xi1>", "4xi1"},
           {"sign %0 : tensor<4xf16>", "4xf16"},
           {"rem %x, %0 : tensor<4xf16>", "4xf16"},
       }) {
    CHECK(roundedIn(square + "%r = halftone." + decision, type) == Names{"mul"});
    // The result of the decision has no reader.
    CHECK(roundedIn(square + "%1 = halftone." + decision + "\n%r = halftone.neg %0 : tensor<4xf16>", "4xf16").empty());
  }
  CHECK(roundedIn(square + "%r = halftone.reduce_all max_abs (%0) : tensor<4xf16>", "f32").empty());
  CHECK(roundedIn(square + "%r = halftone.cast %0 : tensor<4xf16> to tensor<4xf32>", "4xf32").empty());
}

TEST_CASE("an op that folds away decides nothing") {
  CHECK(roundedIn(R"(
    %0 = halftone.mul %x, %x : tensor<4xf16>
    %1 = halftone.is_finite %0 : tensor<4xf16>
    %r = halftone.select %1, %x, %x : tensor<4xf16>)",
                  "4xf16")
            .empty());
  CHECK(roundedIn(R"(
    %0 = halftone.mul %x, %x : tensor<4xf16>
    %1 = halftone.reshape %0 : tensor<4xf16> to tensor<4x1xf16>
    %r = halftone.arg_reduce max %1 {axis = 1 : i64} : tensor<4x1xf16> -> tensor<4xi32>)",
                  "4xi32")
            .empty());
  CHECK(roundedIn(R"(
    %0 = halftone.mul %x, %x : tensor<4xf16>
    %1 = halftone.floor %0 : tensor<4xf16>
    %2 = halftone.slice %1 {start = array<i64: 0>} : tensor<4xf16> to tensor<0xf16>
    %r = halftone.reduce sum %2 {axes = array<i64: 0>} : tensor<0xf16> -> tensor<f32>)",
                  "f32")
            .empty());
}

TEST_CASE("valuesToRound passes f32 arithmetic and moves, and ends at values that round or are in memory") {
  CHECK(roundedIn(R"(
    %0 = halftone.mul %x, %x : tensor<4xf16>
    %1 = halftone.exp %x : tensor<4xf16>
    %2 = halftone.maximum %0, %1 : tensor<4xf16>
    %3 = halftone.reshape %2 : tensor<4xf16> to tensor<2x2xf16>
    %4 = halftone.reduce max %3 {axes = array<i64: 1>} : tensor<2x2xf16> -> tensor<2xf16>
    %5 = halftone.cast %4 : tensor<2xf16> to tensor<2xf32>
    %6 = halftone.log %5 : tensor<2xf32>
    %r = halftone.is_finite %6 : tensor<2xf32>)",
                  "2xi1") == Names{"mul", "exp"});
  CHECK(roundedIn(R"(
    %0 = halftone.mul %x, %x : tensor<4xf16>
    %1 = halftone.add %0, %0 : tensor<4xf16>
    %r = halftone.is_finite %1 : tensor<4xf16>)") == Names{"add"});
  CHECK(roundedIn(R"(
    %0 = halftone.mul %x, %x : tensor<4xf16>
    %1 = halftone.cast %0 : tensor<4xf16> to tensor<4xf16>
    %2 = halftone.read @v : tensor<4xf16>
    %r = halftone.compare ge %1, %2 : tensor<4xf16>)")
            .empty());
  CHECK(roundedIn(R"(
    %0 = halftone.cast %x : tensor<4xf16> to tensor<4xf32>
    %1 = halftone.cast %0 {kind = #halftone<cast_kind storage>} : tensor<4xf32> to tensor<4xf16>
    %r = halftone.is_finite %1 : tensor<4xf16>)") == Names{"cast"});
}

TEST_CASE("valuesToRound enters branches and layers") {
  CHECK(roundedIn(R"(
    %0 = halftone.when %p : (tensor<4xf16>) {
      %1 = halftone.exp %x : tensor<4xf16>
      halftone.yield %1 : tensor<4xf16>
    } else {
      halftone.yield %x : tensor<4xf16>
    }
    %r = halftone.is_finite %0 : tensor<4xf16>)") == Names{"exp"});
  // A narrow result of a layer is rounded within the layer, and so is an operand of another dtype.
  CHECK(roundedIn(R"(
    %0 = halftone.exp %x : tensor<4xf16>
    %y = halftone.layer "a" policy "mixed_float16" (%0) : (tensor<4xf16>) -> tensor<4xf16> {
    ^bb0(%a: tensor<4xf16>):
      %1 = halftone.sqrt %a : tensor<4xf16>
      %2 = halftone.compare gt %a, %1 : tensor<4xf16>
      %3 = halftone.select %2, %1, %a : tensor<4xf16>
      halftone.yield %3 : tensor<4xf16>
    }
    %r = halftone.is_finite %y : tensor<4xf16>)") == Names{"exp", "sqrt"});
}

TEST_CASE(
    "valuesToRound passes through loops: carries and slices of ys round, slices of xs are parts of their stacks") {
  // The narrow slice that the body compares is a part of the result of exp; the narrow carry is in memory.
  CHECK(roundedIn(R"(
    %0 = halftone.exp %x : tensor<4xf16>
    %c0 = halftone.constant dense<1.0> : tensor<f16>
    %l, %r = halftone.scan (%c0) over (%0) {length = 4 : i64} : (tensor<f16>, tensor<4xf16>) -> (tensor<f16>, tensor<4xi1>) {
    ^bb0(%i: tensor<i32>, %c: tensor<f16>, %s: tensor<f16>):
      %1 = halftone.mul %c, %s : tensor<f16>
      %2 = halftone.compare lt %c, %s : tensor<f16>
      halftone.yield %1, %2 : tensor<f16>, tensor<i1>
    })") == Names{"exp"});
  // A wide carry is computed from its init and from the value of the previous step.
  CHECK(roundedIn(R"(
    %0 = halftone.exp %x : tensor<4xf16>
    %1 = halftone.cast %0 : tensor<4xf16> to tensor<4xf32>
    %2 = halftone.scan (%1) {length = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
      %3 = halftone.sqrt %x : tensor<4xf16>
      %4 = halftone.cast %3 : tensor<4xf16> to tensor<4xf32>
      %5 = halftone.add %c, %4 : tensor<4xf32>
      halftone.yield %5 : tensor<4xf32>
    }
    %r = halftone.is_finite %2 : tensor<4xf32>)") == Names{"exp", "sqrt"});
  // A decision in a body counts only if its value reaches a result; then the condition of a while counts too.
  const auto loop = [](const std::string &result) {
    return R"(
    %l:2 = halftone.while (%x, %p) : (tensor<4xf16>, tensor<i1>) -> (tensor<4xf16>, tensor<i1>) {
    ^bb0(%c: tensor<4xf16>, %b: tensor<i1>):
      %0 = halftone.sqrt %x : tensor<4xf16>
      %1 = halftone.is_finite %0 : tensor<4xf16>
      %2 = halftone.reduce and %1 {axes = array<i64: 0>} : tensor<4xi1> -> tensor<i1>
      halftone.yield %2 : tensor<i1>
    } do {
    ^bb0(%i: tensor<i32>, %c: tensor<4xf16>, %b: tensor<i1>):
      %3 = halftone.exp %x : tensor<4xf16>
      %4 = halftone.is_finite %3 : tensor<4xf16>
      %5 = halftone.reduce and %4 {axes = array<i64: 0>} : tensor<4xi1> -> tensor<i1>
      halftone.yield %c, %5 : tensor<4xf16>, tensor<i1>
    }
    )" + result;
  };
  CHECK(roundedIn(loop("%r = halftone.neg %l#0 : tensor<4xf16>"), "4xf16") == Names{"sqrt"});
  CHECK(roundedIn(loop("%r = halftone.not %l#1 : tensor<i1>"), "i1") == Names{"sqrt", "exp"});
  CHECK(roundedIn(loop("%r = halftone.neg %x : tensor<4xf16>"), "4xf16").empty());
}

TEST_CASE("in interval mode a decision reads values rounded to their declared dtype") {
  auto module = parse(R"(
    func.func @main(%x: tensor<2xf16>) -> (tensor<2xi1>, tensor<2xf32>) {
      %0 = halftone.mul %x, %x : tensor<2xf16>
      %1 = halftone.is_finite %0 : tensor<2xf16>
      %2 = halftone.cast %0 : tensor<2xf16> to tensor<2xf32>
      return %1, %2 : tensor<2xi1>, tensor<2xf32>
    })");
  auto results = run(*module, {reals("2xf16", {300, 2})}, true);
  CHECK(results[0].integers == std::vector<int64_t>{0, 1}); // 90000 is infinite in float16
  CHECK((results[0].upper.empty() || results[0].upper == std::vector<int64_t>{0, 1}));
  CHECK(results[1].low == std::vector<double>{INFINITY, 4});
}
