// How form-kernels fuses many ops: the sizes and the number of kernels.
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

/// The kernels of a module in stage kernel.
struct Kernels {
  int64_t launches = 0, kernels = 0, maxOps = 0, partialReductions = 0;
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
  module->walk([&](PartialReduceOp) { ++found.partialReductions; });
  for (auto kernel : module->getOps<KernelOp>()) {
    ++found.kernels;
    found.maxOps = std::max<int64_t>(found.maxOps, kernel.getBody().front().getOperations().size() - 1);
  }
  return found;
}

} // namespace

TEST_CASE("a long chain of elementwise ops becomes kernels of at most 256 ops") {
  constexpr int64_t count = 2500;
  std::string text =
      R"(func.func @main(%v0: tensor<64xf32> {halftone.name = "x"}) -> (tensor<64xf32> {halftone.name = "y"}) {)";
  for (int64_t i = 0; i < count; ++i)
    text += fmt::format("\n  %v{} = halftone.tanh %v{} : tensor<64xf32>", i + 1, i);
  text += fmt::format("\n  return %v{} : tensor<64xf32>\n}}", count);
  const Kernels found = formed(text);
  CHECK(found.launches == 10);
  CHECK(found.maxOps >= 250);
  CHECK(found.maxOps <= 256 + 16); // copies of the cheap ops at the start of a kernel count too
}

TEST_CASE("every reduction over rows that a loop reads anyway becomes a partial reduction of the loop") {
  constexpr int64_t count = 100;
  std::string body, names = "%y", types = "tensor<64x128xf32>", results = types + R"( {halftone.name = "y"})";
  for (int64_t i = 0; i < count; ++i) {
    body += fmt::format(
        "\n  %c{0} = halftone.constant dense<{1}.0> : tensor<64x128xf32>\n"
        "  %m{0} = halftone.mul %x, %c{0} : tensor<64x128xf32>\n"
        "  %r{0} = halftone.reduce max %m{0} {{axes = array<i64: 0>}} : tensor<64x128xf32> -> tensor<128xf32>",
        i, i + 2);
    names += fmt::format(", %r{}", i);
    types += ", tensor<128xf32>";
    results += fmt::format(R"(, tensor<128xf32> {{halftone.name = "r{}"}})", i);
  }
  const Kernels found = formed(fmt::format(R"(func.func @main(%x: tensor<64x128xf32> {{halftone.name = "x"}}) -> ({}) {{
  %y = halftone.relu %x : tensor<64x128xf32>{}
  return {} : {}
}})",
                                           results, body, names, types));
  CHECK(found.partialReductions == count);
  CHECK(found.maxOps >= 3 * count);
}

TEST_CASE("finite checks of many tensors are one launch for about 32 of them") {
  // Two shapes, so that no row kernel holds all ops.
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
