// Names of stages; the pipeline run by the library.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/Compiler.h"
#include "dialect/Dialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <map>

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
  OwningOpRef<ModuleOp> parse(const std::string &text) { return parseSourceString<ModuleOp>(text, &context, "net.mlir"); }
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

TEST_CASE("stages have names") {
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

  // A printed stage is an input: going on from text gives the same.
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
