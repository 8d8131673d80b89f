// The cast ledger: paths of layers that share a kernel, and the cast budget.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reports/Ledger.h"
#include "compiler/CastBudget.h"
#include "compiler/Compiler.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace halftone;
using namespace halftone::compiler;

namespace {

struct KernelStage {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  explicit KernelStage(const std::string &text, CompileOptions options = {}) {
    DialectRegistry registry;
    dialect::registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(text, &context, "net.mlir");
    REQUIRE(module);
    Status status = runStages(*module, Stage::graph, Stage::kernel, options);
    INFO(status.str());
    REQUIRE(status.isOk());
  }
};

const std::string twoLayers = R"(
func.func @main(%x: tensor<8x4xf32> {halftone.name = "x"})
    -> (tensor<8x4xf16> {halftone.name = "y"}, tensor<8xf16> {halftone.name = "z"}) {
  %y = halftone.layer "net/first" policy "float16" (%x) {rule = "net/f.*"} : (tensor<8x4xf32>) -> tensor<8xf16> {
  ^bb0(%a: tensor<8x4xf16>):
    %0 = halftone.reduce max %a {axes = array<i64: 1>} : tensor<8x4xf16> -> tensor<8xf16>
    halftone.yield %0 : tensor<8xf16>
  }
  %b = halftone.broadcast %y {axes = array<i64: 0>} : tensor<8xf16> to tensor<8x4xf16>
  %f = halftone.cast %b {origin = "user"} : tensor<8x4xf16> to tensor<8x4xf32>
  %n = halftone.neg %f : tensor<8x4xf32>
  %z = halftone.layer "net/second" policy "float16" (%n) : (tensor<8x4xf32>) -> tensor<8xf16> {
  ^bb0(%a: tensor<8x4xf16>):
    %0 = halftone.reduce max %a {axes = array<i64: 1>} : tensor<8x4xf16> -> tensor<8xf16>
    halftone.yield %0 : tensor<8xf16>
  }
  %w = halftone.cast %n {origin = "user"} : tensor<8x4xf32> to tensor<8x4xf16>
  return %w, %z : tensor<8x4xf16>, tensor<8xf16>
})";

} // namespace

TEST_CASE("each layer has its rows, also where layers share a kernel") {
  CompileOptions strict;
  strict.numerics = compiler::Numerics::strict(); // one kernel per op: the casts of both layers share a kernel
  KernelStage stage(twoLayers, strict);
  std::vector<LedgerRow> rows = castLedger(*stage.module);
  std::vector<std::string> inputs;
  for (const LedgerRow &row : rows)
    if (row.value == "layer input (8, 4)") {
      inputs.push_back(row.path + " by " + row.rule + " at " + row.location);
      CHECK(row.from == DType::float32);
      CHECK(row.to == DType::float16);
      CHECK_FALSE(row.storage);
      CHECK_FALSE(row.fused);
      CHECK(row.bytes == 32 * (4 + 2));
    }
  CHECK(inputs ==
        std::vector<std::string>{"net/first by net/f.* at net.mlir:4", "net/second by default at net.mlir:12"});
  bool user = false;
  for (const LedgerRow &row : rows)
    user |= row.path.empty() && row.rule.empty() && row.value == "user (8, 4)";
  CHECK(user);
  strict.maxStandaloneCasts = 0;
  CHECK_FALSE(checkCastBudget(rows, strict).isOk()); // the budget holds with strict numerics too

  int64_t standalone = llvm::count_if(rows, [](const LedgerRow &row) { return !row.fused; });
  CHECK(ledgerJson(rows).find("\"standalone\":" + std::to_string(standalone) +
                              ",\"fused\":" + std::to_string(rows.size() - standalone) + ",") != std::string::npos);
}

TEST_CASE("a kernel that only casts counts against the budget") {
  KernelStage stage(R"(
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf16> {halftone.name = "y"}) {
  %y = halftone.layer "net/identity" policy "float16" (%x) : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    halftone.yield %a : tensor<4xf16>
  }
  return %y : tensor<4xf16>
})");
  std::vector<LedgerRow> rows = castLedger(*stage.module);
  REQUIRE(rows.size() == 2); // casts of the layer's input and of its result
  CompileOptions options;
  CHECK(checkCastBudget(rows, options).isOk());
  options.maxStandaloneCasts = 2;
  CHECK(checkCastBudget(rows, options).isOk());
  options.maxStandaloneCasts = 1;
  Status status = checkCastBudget(rows, options);
  REQUIRE_FALSE(status.isOk());
  CHECK(status.kind() == ErrorKind::compile_error);
  CHECK(status.message() == "2 casts are standalone kernels; expected at most 1");
  CHECK(status.layerPath() == "net/identity");
  CHECK(status.diagnostics() == "net/identity: float32 > float16, layer input (4)\n"
                                "net/identity: float16 > float16, layer output (4)\n");
}
