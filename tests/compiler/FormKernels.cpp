// How form-kernels gathers many ops: sizes of kernels, and how many there are.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/Compiler.h"
#include "dialect/Dialect.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace mlir;
using namespace halftone;
using namespace halftone::dialect;
using compiler::Stage;

namespace {

/// Of a module in stage kernel.
struct Kernels {
  int64_t launches = 0, kernels = 0, mostOps = 0;
};

Kernels formed(const std::string &text) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  DialectRegistry registry;
  registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  compiler::CompileOptions options;
  options.verifyStages = true;
  REQUIRE(compiler::runStages(*module, Stage::graph, Stage::kernel, options).str() == "ok");
  Kernels found;
  module->walk([&](LaunchOp) { ++found.launches; });
  for (auto kernel : module->getOps<KernelOp>()) {
    ++found.kernels;
    found.mostOps = std::max<int64_t>(found.mostOps, kernel.getBody().front().getOperations().size() - 1);
  }
  return found;
}

} // namespace

TEST_CASE("a long chain of elementwise ops becomes kernels of at most 1024 ops") {
  constexpr int64_t count = 2500;
  std::string text =
      R"(func.func @main(%v0: tensor<64xf32> {halftone.name = "x"}) -> (tensor<64xf32> {halftone.name = "y"}) {)";
  for (int64_t i = 0; i < count; ++i)
    text += fmt::format("\n  %v{} = halftone.tanh %v{} : tensor<64xf32>", i + 1, i);
  text += fmt::format("\n  return %v{} : tensor<64xf32>\n}}", count);
  const Kernels found = formed(text);
  CHECK(found.launches == 3);
  CHECK(found.mostOps >= 1000);
  CHECK(found.mostOps <= 1024 + 16); // copies of the cheap ops at its start count too
}

TEST_CASE("finite checks of many tensors are one launch for about 32 of them") {
  // Two shapes, so that no row kernel holds all.
  constexpr int64_t count = 1000;
  std::string arguments, names, types;
  for (int64_t i = 0; i < count; ++i) {
    const std::string type = i % 2 ? "tensor<4x4xf32>" : "tensor<12xf32>", comma = i ? ", " : "";
    arguments += fmt::format("{}%x{}: {} {{halftone.name = \"x{}\"}}", comma, i, type, i);
    names += fmt::format("{}%x{}", comma, i);
    types += comma + type;
  }
  const Kernels found = formed(fmt::format(R"(
func.func @main({}) -> (tensor<i1> {{halftone.name = "ok"}}) {{
  %ok = halftone.reduce_all all_finite ({}) : {}
  return %ok : tensor<i1>
}})",
                                           arguments, names, types));
  CHECK(found.launches >= count / 32);
  CHECK(found.launches <= count / 32 + 8);
}
