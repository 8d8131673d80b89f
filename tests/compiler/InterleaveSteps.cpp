// Interleaving of loop steps: loads first, then chains in turn, stores last; only in loops with the attribute.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/Lowering.h"
#include "compiler/kernels/Steps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone::compiler;
using namespace mlir;

namespace {

constexpr const char *plain = R"(
    %a0 = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x0 = llvm.load %a0 : !llvm.ptr -> f32
    %y0 = arith.mulf %x0, %x0 : f32
    %z0 = arith.addf %y0, %x0 : f32
    llvm.store %z0, %a0 : f32, !llvm.ptr
    llvm.store %x0, %q : f32, !llvm.ptr
    %a1 = llvm.getelementptr %a0[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %x1 = llvm.load %a1 : !llvm.ptr -> f32
    %y1 = arith.mulf %x1, %x1 : f32
    llvm.store %y1, %a1 : f32, !llvm.ptr
)";

/// Steps with a branch. The test substitutes text for `$` in one of the regions.
constexpr const char *choosing = R"(
    %a0 = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x0 = llvm.load %a0 : !llvm.ptr -> f32
    %y0 = arith.mulf %x0, %x0 : f32
    %z0 = scf.if %flag -> f32 {
      scf.yield %x0 : f32
    } else {
      $
      scf.yield %y0 : f32
    }
    llvm.store %z0, %a0 : f32, !llvm.ptr
    %a1 = llvm.getelementptr %a0[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %x1 = llvm.load %a1 : !llvm.ptr -> f32
    llvm.store %x1, %a1 : f32, !llvm.ptr
)";

std::string choosingWith(std::string inside) {
  std::string text = choosing;
  return text.replace(text.find('$'), 1, inside);
}

/// The names of the ops in the loop body after the pass.
std::vector<std::string> order(const std::string &body, const std::string &attributes) {
  KernelContext context;
  const std::string text =
      fmt::format(R"(func.func @kernel(%p: !llvm.ptr, %q: !llvm.ptr, %flag: i1, %begin: i64, %end: i64) {{
  %two = arith.constant 2 : i64
  scf.for %i = %begin to %end step %two : i64 {{
    {}
  }} {}
  return
}})",
                  body, attributes);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  REQUIRE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  interleaveSteps(function);
  CHECK(succeeded(verify(*module)));
  std::vector<std::string> names;
  function.walk([&](scf::ForOp loop) {
    CHECK(!loop->hasAttr(interleavedAttr));
    for (Operation &op : loop.getBody()->without_terminator())
      names.push_back(op.getName().stripDialect().str());
  });
  return names;
}

} // namespace

TEST_CASE("Steps of a loop that asks for it are put side by side", "[codegen]") {
  using Names = std::vector<std::string>;
  CHECK(order(plain, "") ==
        Names{"getelementptr", "load", "mulf", "addf", "store", "store", "getelementptr", "load", "mulf", "store"});
  CHECK(order(plain, "{halftone.interleaved}") ==
        Names{"getelementptr", "load", "getelementptr", "mulf", "load", "addf", "store", "mulf", "store", "store"});
}

TEST_CASE("A choice waits for what stands in its regions", "[codegen]") {
  using Names = std::vector<std::string>;
  CHECK(order(choosingWith(""), "{halftone.interleaved}") ==
        Names{"getelementptr", "load", "getelementptr", "mulf", "load", "if", "store", "store"});
}

TEST_CASE("Steps that load or store within a choice stay as they are", "[codegen]") {
  const std::string body = choosingWith("llvm.store %y0, %q : f32, !llvm.ptr");
  CHECK(order(body, "{halftone.interleaved}") == order(body, ""));
}
