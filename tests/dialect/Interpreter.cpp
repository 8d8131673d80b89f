// Whole modules in the interpreter: layers, variables, branches, launches, and errors.
// SPDX-License-Identifier: Apache-2.0
#include "Modules.h"
#include "mlir/Parser/Parser.h"

using namespace halftone;
using namespace halftone::dialect;
using namespace halftone::dialect::testing;

using Row = std::vector<double>;

TEST_CASE("a layer casts its operands and rounds its results") {
  auto module = parse(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = halftone.layer "net/dense" policy "mixed_float16" (%x) : (tensor<2xf32>) -> tensor<2xf16> {
      ^bb0(%a: tensor<2xf16>):
        %0 = halftone.add %a, %a : tensor<2xf16>
        halftone.yield %0 : tensor<2xf16>
      }
      %z = halftone.cast %y : tensor<2xf16> to tensor<2xf32>
      return %z : tensor<2xf32>
    })");
  CHECK(run(*module, {reals("2xf32", {1 + 0x1p-20, 40000})})[0].low == Row{2, INFINITY});
  CHECK(run(*module, {reals("2xf32", {1 + 0x1p-20, 40000})}, true)[0].low == Row{2, INFINITY});
}

static const char *counter = R"(
    halftone.variable @w : tensor<2xf32>
    func.func @main(%p: tensor<i1>) -> tensor<2xf16> {
      %0 = halftone.read @w : tensor<2xf32>
      %1 = halftone.when %p : (tensor<2xf32>) {
        %3 = halftone.add %0, %0 : tensor<2xf32>
        halftone.yield %3 : tensor<2xf32>
      } else {
        halftone.yield %0 : tensor<2xf32>
      }
      halftone.assign @w, %1 : tensor<2xf32>
      %2 = halftone.read @w : tensor<2xf16>
      return %2 : tensor<2xf16>
    })";

TEST_CASE("variables are read and assigned, and a branch is taken") {
  auto module = parse(counter);
  VariableValues variables{{"w", reals("2xf32", {1, 1 + 0x1p-20})}};
  auto results = interpret(*module, {wholes("i1", {1})}, variables);
  REQUIRE(results.isOk());
  CHECK(variables.at("w").low == Row{2, 2 + 0x1p-19});
  CHECK((*results)[0].low == Row{2, 2});
  REQUIRE(interpret(*module, {wholes("i1", {0})}, variables).isOk());
  CHECK(variables.at("w").low == Row{2, 2 + 0x1p-19});
}

TEST_CASE("an undecided branch joins both sides") {
  auto module = parse(counter);
  VariableValues variables{{"w", reals("2xf32", {1, 3})}};
  TensorData either = wholes("i1", {0});
  either.upper = {1};
  InterpreterOptions options;
  options.intervals = true;
  REQUIRE(interpret(*module, {either}, variables, options).isOk());
  CHECK(variables.at("w").low == Row{1, 3});
  CHECK(variables.at("w").high == Row{2, 6});
}

TEST_CASE("the interpreter reads variables from arguments and writes them from tied results") {
  auto module = parse(R"(
    halftone.variable @w : tensor<2xf32>
    func.func @main(%x: tensor<2xf32> {halftone.name = "x"}, %w: tensor<2xf32> {halftone.variable = @w})
        -> (tensor<2xf32> {halftone.name = "y"}, tensor<2xf32> {halftone.variable = @w}) {
      %0 = halftone.add %x, %w : tensor<2xf32>
      %1 = halftone.neg %w : tensor<2xf32>
      return %0, %1 : tensor<2xf32>, tensor<2xf32>
    })");
  VariableValues variables{{"w", reals("2xf32", {1, 2})}};
  auto results = interpret(*module, {reals("2xf32", {10, 20})}, variables);
  REQUIRE(results.isOk());
  REQUIRE(results->size() == 1);
  CHECK((*results)[0].low == Row{11, 22});
  CHECK(variables.at("w").low == Row{-1, -2});
}

static const char *launches = R"(
    halftone.kernel loop @loop_0 (tensor<2xf16>) -> (tensor<2xf16>, tensor<2xf32>) {
    ^bb0(%a: tensor<2xf16>):
      %0 = halftone.mul %a, %a : tensor<2xf16>
      %1 = halftone.cast %0 : tensor<2xf16> to tensor<2xf32>
      halftone.yield %0, %1 : tensor<2xf16>, tensor<2xf32>
    }
    func.func @main(%x: tensor<2xf16>) -> tensor<2xf32> {
      %0:2 = halftone.launch @loop_0(%x) {site = "net"} : (tensor<2xf16>) -> (tensor<2xf16>, tensor<2xf32>)
      %1:2 = halftone.launch @loop_0(%0#0) : (tensor<2xf16>) -> (tensor<2xf16>, tensor<2xf32>)
      return %1#1 : tensor<2xf32>
    })";

TEST_CASE("a launch runs its kernel") {
  auto module = parse(launches);
  CHECK(run(*module, {reals("2xf16", {2, 3})})[0].low == Row{16, 81});
  auto kernel = module->lookupSymbol<KernelOp>("loop_0");
  auto results = interpretKernel(kernel, {reals("2xf16", {2, 0x1.004p0})});
  REQUIRE(results.isOk());
  CHECK((*results)[0].low == Row{4, 1 + 0x1p-9});
  CHECK((*results)[1].low == (*results)[0].low);
}

TEST_CASE("results of a kernel are stored: bounds round to the dtype") {
  auto module = parse(launches);
  InterpreterOptions options;
  options.intervals = true;
  auto results = interpretKernel(module->lookupSymbol<KernelOp>("loop_0"), {reals("2xf16", {2, 0x1.004p0})}, options);
  REQUIRE(results.isOk());
  CHECK((*results)[0].low == (*results)[0].high);
}

TEST_CASE("strict bounds of exactly rounded ops are points") {
  auto module = parse(R"(
    func.func @main(%x: tensor<3xf16>, %y: tensor<3xf16>) -> tensor<3xf32> {
      %0 = halftone.mul %x, %y : tensor<3xf16>
      %1 = halftone.add %0, %y : tensor<3xf16>
      %2 = halftone.sqrt %1 : tensor<3xf16>
      %3 = halftone.cast %2 : tensor<3xf16> to tensor<3xf32>
      return %3 : tensor<3xf32>
    })");
  std::vector<TensorData> feeds{reals("3xf16", {1.5, 0x1.998p-4, 3}), reals("3xf16", {0x1.554p-2, 7, 11})};
  VariableValues none;
  InterpreterOptions options;
  options.intervals = options.strict = true;
  auto strict = interpret(*module, feeds, none, options);
  REQUIRE(strict.isOk());
  CHECK((*strict)[0].low == (*strict)[0].high);
  CHECK((*strict)[0].low == run(*module, feeds)[0].low);
  TensorData loose = run(*module, feeds, true)[0];
  CHECK(loose.low != loose.high);
}

static Status refusal(mlir::ModuleOp module, const std::vector<TensorData> &feeds, VariableValues variables = {}) {
  VariableValues before = variables;
  auto results = interpret(module, feeds, variables);
  REQUIRE_FALSE(results.isOk());
  REQUIRE(variables.size() == before.size());
  return results.status();
}

TEST_CASE("a module that cannot run is refused with its reason, and changes nothing") {
  auto module = parse(counter);
  TensorData yes = wholes("i1", {1}), w = reals("2xf32", {1, 2});
  CHECK(refusal(*module, {}, {{"w", w}}).message() == "@main takes more feeds than the 0 given");
  CHECK(refusal(*module, {yes, yes}, {{"w", w}}).message() == "@main takes 1 feeds, but 2 were given");
  CHECK(refusal(*module, {w}, {{"w", w}}).message() == "feed #0 has type tensor<2xf32>, but tensor<i1> is expected");
  CHECK(refusal(*module, {yes}, {}).kind() == ErrorKind::key_error);
  CHECK(refusal(*module, {yes}, {{"w", yes}}).message() ==
        "variable @w has type tensor<i1>, but tensor<2xf32> is expected");
  TensorData hollow = w;
  hollow.low.clear();
  CHECK(refusal(*module, {yes}, {{"w", hollow}}).message() == "variable @w does not have the 2 elements of its type");
  auto gradient = parse(R"(func.func @main(%x: tensor<f32>) -> tensor<f32> {
    %0 = halftone.gradient %x at (%x : tensor<f32>) : tensor<f32> -> tensor<f32>
    return %0 : tensor<f32>
  })");
  CHECK(refusal(*gradient, {reals("f32", {1})}).kind() == ErrorKind::not_implemented_error);
  // The verifier rejects such an op, and the interpreter has no case for it either.
  auto unknown = mlir::parseSourceString<mlir::ModuleOp>(
      R"(func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
    %0 = "halftone.exp"(%x) : (tensor<2xi32>) -> tensor<2xi32> loc("model.cpp":7:3)
    return %0 : tensor<2xi32>
  })",
      mlir::ParserConfig(context(), /*verifyAfterParse=*/false));
  REQUIRE(unknown);
  const Status noCase = refusal(*unknown, {wholes("2xi32", {1, 2})});
  CHECK(noCase.kind() == ErrorKind::not_implemented_error);
  CHECK(noCase.message() == "the interpreter does not run 'halftone.exp' at loc(\"model.cpp\":7:3)");
  auto nothing = parse("");
  CHECK(refusal(*nothing, {}).message() == "the module has no function @main with a single block");
  auto kernels = parse(launches);
  CHECK(interpretKernel(kernels->lookupSymbol<KernelOp>("loop_0"), {}).status().message() ==
        "kernel @loop_0 takes 1 operands, but 0 were given");
}

static const char *recurrence = R"(
    func.func @main(%h0: tensor<2xf16>, %xs: tensor<3x2xf16>, %k: tensor<2xf16>) -> (tensor<2xf16>, tensor<3x2xf16>, tensor<3xi32>) {
      %h, %ys, %is = halftone.scan (%h0) over (%xs) {length = 3 : i64DIRECTION}
          : (tensor<2xf16>, tensor<3x2xf16>) -> (tensor<2xf16>, tensor<3x2xf16>, tensor<3xi32>) {
      ^bb0(%i: tensor<i32>, %c: tensor<2xf16>, %x: tensor<2xf16>):
        %0 = halftone.mul %c, %k : tensor<2xf16>
        %1 = halftone.add %0, %x : tensor<2xf16>
        halftone.yield %1, %c, %i : tensor<2xf16>, tensor<2xf16>, tensor<i32>
      }
      return %h, %ys, %is : tensor<2xf16>, tensor<3x2xf16>, tensor<3xi32>
    })";

static mlir::OwningOpRef<mlir::ModuleOp> recurrenceThat(const std::string &direction) {
  std::string text = recurrence;
  text.replace(text.find("DIRECTION"), 9, direction);
  return parse(text);
}

TEST_CASE("a scan goes over its slices, carries values on and stacks others") {
  const std::vector<TensorData> feeds{reals("2xf16", {1, 2}), reals("3x2xf16", {10, 20, 30, 40, 50, 60}),
                                      reals("2xf16", {2, 1})};
  auto forward = run(*recurrenceThat(""), feeds);
  CHECK(forward[0].low == Row{158, 122});
  CHECK(forward[1].low == Row{1, 2, 12, 22, 54, 62});
  CHECK(forward[2].integers == std::vector<int64_t>{0, 1, 2});
  auto backward = run(*recurrenceThat(", reverse"), feeds);
  CHECK(backward[0].low == Row{10 + 2 * (30 + 2 * (50 + 2 * 1)), 122});
  CHECK(backward[1].low == Row{134, 102, 52, 62, 1, 2});
  CHECK(backward[2].integers == std::vector<int64_t>{0, 1, 2});
}

TEST_CASE("carries and slices round to their dtype at every step") {
  const std::vector<TensorData> feeds{reals("2xf16", {1, 1}), reals("3x2xf16", {0x1p-12, 3, 0, 0, 0, 0}),
                                      reals("2xf16", {1, 0x1.554p-2})};
  auto points = run(*recurrenceThat(""), feeds);
  auto bounds = run(*recurrenceThat(""), feeds, true);
  CHECK(points[0].low[0] == 1);
  CHECK(bounds[0].low[0] == 1);
  CHECK(bounds[0].high[0] == 1);
  for (int64_t i = 0; i < 6; ++i)
    CHECK(bounds[1].contains(points[1], i));
}

TEST_CASE("a scan without steps gives its inits and empty stacks") {
  auto module = parse(R"(
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<0x2xf32>) {
      %0:2 = halftone.scan (%x) {length = 0 : i64} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<0x2xf32>) {
      ^bb0(%i: tensor<i32>, %c: tensor<2xf32>):
        %1 = halftone.neg %c : tensor<2xf32>
        halftone.yield %1, %1 : tensor<2xf32>, tensor<2xf32>
      }
      return %0#0, %0#1 : tensor<2xf32>, tensor<0x2xf32>
    })");
  auto results = run(*module, {reals("2xf32", {1, 2})});
  CHECK(results[0].low == Row{1, 2});
  CHECK(results[1].low.empty());
}

static const char *doubling = R"(
    halftone.variable @w : tensor<f32>
    func.func @main(%v: tensor<f32>, %limit: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
      %n0 = halftone.constant dense<-1> : tensor<i32>
      %0:2 = halftone.while (%v, %n0) MAXIMUM : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) {
      ^bb0(%c: tensor<f32>, %n: tensor<i32>):
        %go = halftone.compare lt %c, %limit : tensor<f32>
        halftone.yield %go : tensor<i1>
      } do {
      ^bb0(%i: tensor<i32>, %c: tensor<f32>, %n: tensor<i32>):
        %1 = halftone.add %c, %c : tensor<f32>
        halftone.assign @w, %1 : tensor<f32>
        halftone.yield %1, %i : tensor<f32>, tensor<i32>
      }
      return %0#0, %0#1 : tensor<f32>, tensor<i32>
    })";

static mlir::OwningOpRef<mlir::ModuleOp> doublingUpTo(const std::string &maximum) {
  std::string text = doubling;
  text.replace(text.find("MAXIMUM"), 7, maximum);
  return parse(text);
}

TEST_CASE("a while takes steps until its condition is false or the maximum is reached") {
  auto module = doublingUpTo("");
  VariableValues variables{{"w", reals("f32", {7})}};
  auto results = *interpret(*module, {reals("f32", {1}), reals("f32", {100})}, variables);
  CHECK(results[0].low == Row{128});
  CHECK(results[1].integers == std::vector<int64_t>{6});
  CHECK(variables.at("w").low == Row{128});
  results = *interpret(*module, {reals("f32", {100}), reals("f32", {100})}, variables);
  CHECK(results[0].low == Row{100});
  CHECK(results[1].integers == std::vector<int64_t>{-1});
  CHECK(variables.at("w").low == Row{128});
  auto short_ = doublingUpTo("{maximum = 3 : i64}");
  CHECK((*interpret(*short_, {reals("f32", {1}), reals("f32", {100})}, variables))[0].low == Row{8});
  auto none = doublingUpTo("{maximum = 0 : i64}");
  CHECK((*interpret(*none, {reals("f32", {1}), reals("f32", {100})}, variables))[0].low == Row{1});
}

TEST_CASE("an undecided while gives the hull of its exits") {
  auto module = doublingUpTo("");
  VariableValues variables{{"w", reals("f32", {7})}};
  InterpreterOptions options;
  options.intervals = true;
  auto results = *interpret(*module, {reals("f32", {1}), interval("f32", {3}, {20})}, variables, options);
  CHECK(results[0].low == Row{4});
  CHECK(results[0].high == Row{32});
  CHECK(results[1].integers == std::vector<int64_t>{1});
  CHECK(results[1].upper == std::vector<int64_t>{4});
  CHECK(variables.at("w").low == Row{4});
  CHECK(variables.at("w").high == Row{32});
  // The loop may never end, so nothing is known about its results.
  results = *interpret(*module, {interval("f32", {-1}, {1}), reals("f32", {1})}, variables, options);
  CHECK(results[0].contains(reals("f32", {12345}), 0));
  CHECK(results[1].contains(wholes("i32", {-2147483648}), 0));
  CHECK(variables.at("w").contains(reals("f32", {-5}), 0));
}
