// Compares the compiled kernels that form-kernels makes from random modules with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/Compiler.h"
#include "mlir/Parser/Parser.h"
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/RandomModule.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>
#include <cstdlib>

using namespace halftone;
using halftone::testing::KernelHarness;

namespace {

std::vector<std::string> kernelsOf(const std::string &source, bool strict) {
  mlir::DialectRegistry registry;
  dialect::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  REQUIRE(module);
  compiler::CompileOptions options;
  options.numerics = compiler::Numerics::strictIf(strict);
  Status status = compiler::runStages(*module, compiler::Stage::pure, compiler::Stage::kernel, options);
  if (!status.isOk())
    FAIL(status.message() << "\n" << source);
  std::vector<std::string> texts;
  for (auto kernel : module->getOps<dialect::KernelOp>())
    llvm::raw_string_ostream(texts.emplace_back()) << kernel;
  return texts;
}

} // namespace

TEST_CASE("Kernels of random modules compute what the interpreter says", "[kernels]") {
  const char *many = std::getenv("HALFTONE_RANDOM_KERNELS");
  uint32_t seeds = many ? std::atoi(many) : 12;
  const std::vector<std::string> targets = testing::runnableTargets();
  for (uint32_t seed = 0; seed < seeds; ++seed)
    for (bool strict : {false, true}) {
      auto [height, width] = seed % 3 == 0   ? std::pair<int64_t, int64_t>{5, 37}
                             : seed % 3 == 1 ? std::pair<int64_t, int64_t>{1, 20}
                                             : std::pair<int64_t, int64_t>{33, 3};
      for (const std::string &text : kernelsOf(randomModule(seed, height, width), strict)) {
        const std::string &target = targets[seed / 3 % targets.size()];
        CAPTURE(seed, strict, target, text);
        KernelHarness kernel(text, target, strict);
        kernel.checkInside(kernel.operands(seed, false));
      }
    }
}
