// Blame for a failed pipeline: the module's if its check or differentiate rejects it, otherwise the compiler's.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reports/PassBlame.h"
#include "compiler/passes/Passes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <functional>

using namespace mlir;
using namespace halftone;
using namespace halftone::compiler;

namespace {

class Fake : public PassWrapper<Fake, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Fake)
  Fake(StringRef flag, std::function<bool(ModuleOp)> work) : flag(flag), work(std::move(work)) {}

private:
  StringRef getArgument() const override { return flag; }
  void runOnOperation() override {
    if (!work(getOperation()))
      signalPassFailure();
  }
  std::string flag;
  std::function<bool(ModuleOp)> work;
};

const std::string good = R"(
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %y = halftone.neg %x : tensor<4xf32>
  return %y : tensor<4xf32>
})";

const std::string withoutGradient = R"(
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "dx"}) {
  %y = halftone.reduce_all max_abs (%x) : tensor<4xf32>
  %d = halftone.gradient %y at (%x : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  return %d : tensor<4xf32>
})";

struct Result {
  bool failed, isBug;
};

Result run(const std::string &text, std::vector<std::unique_ptr<Pass>> list, bool checksInput) {
  MLIRContext context;
  DialectRegistry registry;
  dialect::registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  PassManager passes(&context);
  for (auto &pass : list)
    passes.addPass(std::move(pass));
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { said += diagnostic.str(); });
  bool isBug = false;
  watchForBugs(passes, checksInput, &isBug);
  const bool failed = mlir::failed(passes.run(*module));
  CHECK(said.empty() == !failed); // a failure has a diagnostic, and a success has none
  return {failed, isBug};
}

template <class... T> std::vector<std::unique_ptr<Pass>> listOf(T... passes) {
  std::vector<std::unique_ptr<Pass>> list;
  (list.push_back(std::move(passes)), ...);
  return list;
}

std::unique_ptr<Pass> refuses(StringRef flag) {
  return std::make_unique<Fake>(flag, [](ModuleOp module) { return succeeded(module.emitError("no")); });
}
std::unique_ptr<Pass> breaks(StringRef flag) {
  return std::make_unique<Fake>(flag, [](ModuleOp module) {
    (*module.getOps<func::FuncOp>().begin()).getBody().front().getTerminator()->eraseOperand(0);
    return true;
  });
}

} // namespace

TEST_CASE("the module is to blame for errors of its own check and for a missing gradient", "[blame]") {
  Result found = run(good, listOf(createVerifyStagePass({Stage::kernel})), true);
  CHECK(found.failed);
  CHECK_FALSE(found.isBug);
  found = run(withoutGradient, listOf(createVerifyStagePass({Stage::graph}), createDifferentiatePass()), true);
  CHECK(found.failed);
  CHECK_FALSE(found.isBug);
  found = run(good, listOf(createVerifyStagePass({Stage::graph}), refuses("")), true); // a pass of a tool
  CHECK(found.failed);
  CHECK_FALSE(found.isBug);
}

TEST_CASE("the compiler is to blame for all other errors", "[blame]") {
  Result found = run(good, listOf(createVerifyStagePass({Stage::graph}), createVerifyStagePass({Stage::kernel})), true);
  CHECK(found.failed);
  CHECK(found.isBug); // the pipeline itself had to reach the stage
  CHECK(run(good, listOf(createVerifyStagePass({Stage::kernel})), false).isBug);
  CHECK(run(good, listOf(refuses("halftone-form-kernels")), true).isBug);
  CHECK(run(good, listOf(breaks("halftone-form-kernels")), true).isBug);
  CHECK(
      run(good, listOf(breaks("halftone-differentiate")), true).isBug); // the verifier reports the error, not the pass
}

TEST_CASE("nobody is to blame for a pass that succeeds", "[blame]") {
  const Result found = run(good, listOf(createVerifyStagePass({Stage::graph}), createDifferentiatePass()), true);
  CHECK_FALSE(found.failed);
  CHECK_FALSE(found.isBug);
}
