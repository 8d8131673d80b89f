// The names of stages, and the pipeline as the library runs it.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/Compiler.h"
#include "dialect/Interpreter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <map>
#include <random>

using namespace mlir;
using namespace halftone;
using namespace halftone::compiler;

namespace {

struct Fixture {
  MLIRContext context;
  Fixture() {
    DialectRegistry registry;
    dialect::registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.printOpOnDiagnostic(false);
  }
  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return parseSourceString<ModuleOp>(text, &context, "net.mlir");
  }
};

const std::string square = R"(
halftone.variable @w : tensor<4xf32>
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "dw"}) {
  %y = halftone.layer "net/square" policy "mixed_float16" (%x) : (tensor<4xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<4xf16>):
    %w = halftone.read @w : tensor<4xf16>
    %0 = halftone.mul %a, %w : tensor<4xf16>
    %1 = halftone.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf16> -> tensor<f32>
    halftone.yield %1 : tensor<f32>
  }
  %dw = halftone.gradient %y of [@w] : tensor<f32> -> tensor<4xf32>
  return %dw : tensor<4xf32>
})";

} // namespace

TEST_CASE("every stage has a name and is found by it") {
  for (Stage stage : {Stage::graph, Stage::cast, Stage::pure, Stage::kernel, Stage::linalg, Stage::plan, Stage::target})
    CHECK(stageNamed(name(stage)) == stage);
  CHECK(name(Stage::graph) == "graph");
  CHECK(name(Stage::target) == "target");
  CHECK(stageNamed("soup") == std::nullopt);
}

TEST_CASE_METHOD(Fixture, "each stage on the way is shown") {
  OwningOpRef<ModuleOp> module = parse(square);
  REQUIRE(module);
  std::map<Stage, std::string> texts;
  CompileOptions options;
  options.verifyStages = true;
  options.onStage = [&](Stage stage, std::string_view text) { texts[stage] = text; };
  Status status = runStages(*module, Stage::graph, Stage::pure, options);
  INFO(status.str());
  REQUIRE(status.isOk());
  REQUIRE(texts.size() == 3);
  CHECK(texts[Stage::graph].find("halftone.layer \"net/square\"") != std::string::npos);
  CHECK(texts[Stage::cast].find("origin = \"layer input\"") != std::string::npos);
  CHECK(texts[Stage::pure].find("halftone.variable = @w") != std::string::npos);

  // A printed stage is a valid input: the pipeline gives the same result if it continues from the text.
  OwningOpRef<ModuleOp> again = parse(texts[Stage::cast]);
  REQUIRE(again);
  std::string direct = texts[Stage::pure];
  REQUIRE(runStages(*again, Stage::cast, Stage::pure, options).isOk());
  CHECK(texts[Stage::pure] == direct);
}

TEST_CASE_METHOD(Fixture, "a pass that fails is a Status with the layer and the line") {
  OwningOpRef<ModuleOp> module = parse(R"(
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "dx"}) {
  %y = halftone.layer "net/norm" policy "float32" (%x) : (tensor<4xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = halftone.reduce_all max_abs (%a) : tensor<4xf32>
    halftone.yield %0 : tensor<f32>
  }
  %d = halftone.gradient %y at (%x : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  return %d : tensor<4xf32>
})");
  REQUIRE(module);
  Status status = runStages(*module, Stage::graph, Stage::pure, {});
  REQUIRE_FALSE(status.isOk());
  CHECK(status.kind() == ErrorKind::compile_error);
  CHECK(status.layerPath() == "net/norm");
  CHECK(status.message() == "'halftone.reduce_all' op has no gradient, but the value to differentiate depends on it "
                            "(layer net/norm)");
  CHECK(std::string(status.where().file) == "net.mlir");
  CHECK(status.where().line == 5);
  CHECK(status.diagnostics().find("net.mlir:8:8: note: differentiated here") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "stages out of order, or not of a module, are refused") {
  OwningOpRef<ModuleOp> module = parse(square);
  REQUIRE(module);
  CHECK(runStages(*module, Stage::pure, Stage::cast, {}).kind() == ErrorKind::value_error);
  CHECK(runStages(*module, Stage::graph, Stage::plan, {}).kind() == ErrorKind::value_error);
}

TEST_CASE_METHOD(Fixture, "verification between stages finds a module that is not what it is said to be") {
  OwningOpRef<ModuleOp> module = parse(square);
  REQUIRE(module);
  CompileOptions options;
  options.verifyStages = true;
  Status status = runStages(*module, Stage::pure, Stage::pure, options);
  REQUIRE_FALSE(status.isOk());
  CHECK(status.message().find("is not legal in stage pure") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "on the way to stage pure not a bit changes") {
  OwningOpRef<ModuleOp> module = parse(R"(
halftone.variable @w : tensor<4x4xf32>
halftone.variable @mean : tensor<4xf32>
halftone.variable @steps : tensor<i32>
func.func @main(%x: tensor<3x4xf32> {halftone.name = "x"}, %train: tensor<i1> {halftone.name = "train"})
    -> (tensor<3x4xf32> {halftone.name = "y"}, tensor<3x4xbf16> {halftone.name = "z"}) {
  %h = halftone.layer "net" policy "mixed_float16" (%x, %train) : (tensor<3x4xf32>, tensor<i1>) -> tensor<3x4xf16> {
  ^bb0(%a: tensor<3x4xf16>, %t: tensor<i1>):
    %w = halftone.read @w : tensor<4x4xf16>
    %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<3x4xf16>, tensor<4x4xf16>) -> tensor<3x4xf16>
    %1 = halftone.layer "net/tanh" policy "mixed_bfloat16" (%0) : (tensor<3x4xf16>) -> tensor<3x4xbf16> {
    ^bb0(%b: tensor<3x4xbf16>):
      %2 = halftone.tanh %b : tensor<3x4xbf16>
      %one = halftone.constant dense<1.0> : tensor<3x4xbf16>
      %3 = halftone.mul %2, %one : tensor<3x4xbf16>
      halftone.yield %3 : tensor<3x4xbf16>
    }
    %4 = halftone.cast %1 {origin = "user"} : tensor<3x4xbf16> to tensor<3x4xf16>
    %wt = halftone.transpose %w {permutation = array<i64: 1, 0>} : tensor<4x4xf16> to tensor<4x4xf16>
    %5 = halftone.contract %4, %wt {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<3x4xf16>, tensor<4x4xf16>) -> tensor<3x4xf16>
    halftone.when %t : () {
      %old = halftone.read @mean : tensor<4xf32>
      %sum = halftone.reduce sum %5 {axes = array<i64: 0>} : tensor<3x4xf16> -> tensor<4xf32>
      %new = halftone.add %old, %sum : tensor<4xf32>
      halftone.assign @mean, %new : tensor<4xf32>
      %n = halftone.read @steps : tensor<i32>
      %i = halftone.constant dense<1> : tensor<i32>
      %n1 = halftone.add %n, %i : tensor<i32>
      halftone.assign @steps, %n1 : tensor<i32>
    } else {
    }
    halftone.yield %5 : tensor<3x4xf16>
  }
  %m = halftone.read @mean : tensor<4xf32>
  %mb = halftone.broadcast %m {axes = array<i64: 1>} : tensor<4xf32> to tensor<3x4xf32>
  %hf = halftone.cast %h {origin = "user"} : tensor<3x4xf16> to tensor<3x4xf32>
  %y = halftone.sub %hf, %mb : tensor<3x4xf32>
  %minus = halftone.neg %y : tensor<3x4xf32>
  %plus = halftone.neg %minus : tensor<3x4xf32>
  %z = halftone.cast %plus {origin = "user"} : tensor<3x4xf32> to tensor<3x4xbf16>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xbf16>
})");
  REQUIRE(module);
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  auto tensor = [&](ArrayRef<int64_t> shape) {
    std::vector<float> values(ShapedType::getNumElements(shape));
    for (float &value : values)
      value = normal(random);
    return dialect::TensorData::fromBytes(RankedTensorType::get(shape, Float32Type::get(&context)), values.data());
  };
  int32_t steps = 41;
  dialect::VariableValues initial;
  initial.emplace("w", tensor({4, 4}));
  initial.emplace("mean", tensor({4}));
  initial.emplace("steps",
                  dialect::TensorData::fromBytes(RankedTensorType::get({}, IntegerType::get(&context, 32)), &steps));
  dialect::TensorData x = tensor({3, 4});

  for (bool train : {true, false}) {
    OwningOpRef<ModuleOp> staged(module->clone());
    auto boolean = RankedTensorType::get({}, IntegerType::get(&context, 1));
    std::vector<dialect::TensorData> feeds = {x, dialect::TensorData::fromBytes(boolean, &train)};
    std::vector<std::string> first;
    for (Stage stage : {Stage::graph, Stage::cast, Stage::pure}) {
      CompileOptions options;
      options.verifyStages = true;
      Stage before = stage == Stage::graph ? stage : static_cast<Stage>(static_cast<int>(stage) - 1);
      REQUIRE(runStages(*staged, before, stage, options).isOk());
      dialect::VariableValues variables = initial;
      StatusOr<std::vector<dialect::TensorData>> results = dialect::interpret(*staged, feeds, variables);
      INFO(name(stage) << ": " << results.status().str());
      REQUIRE(results.isOk());
      std::vector<std::string> bytes;
      for (const dialect::TensorData &result : *results)
        bytes.push_back(result.toBytes());
      for (const auto &[symbol, value] : variables)
        bytes.push_back(value.toBytes());
      REQUIRE(bytes.size() == 5);
      if (first.empty())
        first = bytes;
      CHECK(bytes == first);
      CHECK(variables.at("steps").integers[0] == 41 + train);
    }
  }
}
