// Compilation of one kernel from text to code: the texts that the compiler rejects, and its messages.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCompiler.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <thread>

using namespace halftone;
using namespace halftone::compiler;

namespace {
CpuTarget target(std::string_view name) {
  auto found = CpuTarget::find(name);
  REQUIRE(found.isOk());
  return *found;
}
Status refusal(std::string_view text) {
  auto kernel = compileKernel(text, target("host"));
  REQUIRE_FALSE(kernel.isOk());
  CHECK(kernel.status().kind() == ErrorKind::internal_error);
  return kernel.status();
}
} // namespace

TEST_CASE("Text that is no kernel is refused with MLIR's diagnostics", "[kernels]") {
  CHECK_THAT(refusal("not mlir at all").diagnostics(), Catch::Contains("custom op 'not' is unknown"));
  CHECK_THAT(refusal("module {}").diagnostics(), Catch::Contains("expected one func.func with a body"));
  CHECK_THAT(refusal("func.func @f() { return }").diagnostics(),
             Catch::Contains("expected the string attribute halftone.kind"));
  CHECK_THAT(refusal("func.func @f() attributes {halftone.kind = 7} { return }").diagnostics(),
             Catch::Contains("expected halftone.kind to be a string"));
  CHECK_THAT(refusal("func.func @f() attributes {halftone.kind = \"poem\"} { return }").diagnostics(),
             Catch::Contains("expected halftone.kind to be one of loop, reduction_loop, ") &&
                 Catch::Contains(", sort, recurrence, but got \"poem\""));
  for (const char *numerics : {"7", "\"exact\"", "unit"})
    CHECK_THAT(
        refusal(
            fmt::format("func.func @f() attributes {{halftone.kind = \"loop\", halftone.numerics = {}}} {{ return }}",
                        numerics))
            .diagnostics(),
        Catch::Contains("expected halftone.numerics to be \"fast\" or \"strict\""));
  CHECK_THAT(refusal("func.func @f() attributes {halftone.kind = \"loop\", halftone.strict} { return }").diagnostics(),
             Catch::Contains("attribute 'halftone.strict' is not known on the function of a kernel") &&
                 Catch::Contains("halftone.kind, halftone.numerics, halftone.outer"));
  CHECK_THAT(refusal("func.func private @f()").diagnostics(), Catch::Contains("expected one func.func with a body"));
  CHECK_THAT(refusal("%0 = \"toy.op\"() : () -> f32").diagnostics(), Catch::Contains("unregistered dialect"));
}

TEST_CASE("Keys tell texts and targets apart", "[kernels]") {
  const CpuTarget v3 = target("x86-64-v3"), v4 = target("x86-64-v4");
  CHECK(kernelKey("a", v3) == kernelKey("a", v3));
  CHECK(kernelKey("a", v3) != kernelKey("b", v3));
  CHECK(kernelKey("a", v3) != kernelKey("a", v4));
  CHECK(kernelKey("a", v3).size() == 64);
  CHECK(kernelKey("a", v3).find_first_not_of("0123456789abcdef") == std::string::npos);
}

namespace {
/// y = exp(x) * scale as f16, over one dim.
std::string loop(const std::string &scale) {
  return fmt::format(R"(#id = affine_map<(d0) -> (d0)>
func.func @kernel(%e0: index, %rows: index, %columns: index, %x: tensor<?xf16>) -> tensor<?xf16>
    attributes {{halftone.kind = "loop", halftone.outer = 0 : i64}} {{
  %o = tensor.empty(%e0) : tensor<?xf16>
  %y = linalg.generic {{halftone.combine = [""], halftone.dims = array<i64: 0>, indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
      ins(%x : tensor<?xf16>) outs(%o : tensor<?xf16>) {{
  ^bb0(%a: f16, %b: f16):
    %w = arith.extf %a : f16 to f32
    %c = arith.constant {} : f32
    %e = math.exp %w : f32
    %m = arith.mulf %e, %c : f32
    %n = arith.truncf %m : f32 to f16
    linalg.yield %n : f16
  }} -> tensor<?xf16>
  return %y : tensor<?xf16>
}})",
                     scale);
}
} // namespace

TEST_CASE("A kernel becomes an object with every dump, for CPUs of several kinds", "[kernels]") {
  for (const char *name :
       {"host", "x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids", "x86_64-unknown-linux-gnu",
        "aarch64-unknown-linux-gnu:neoverse-n1", "aarch64-unknown-linux-gnu", "riscv64-unknown-linux-gnu"}) {
    INFO(name);
    KernelDumps dumps;
    auto kernel = compileKernel(loop("2.0"), target(name), &dumps);
    INFO(kernel.status().str() << (kernel.isOk() ? "" : kernel.status().diagnostics()));
    REQUIRE(kernel.isOk());
    CHECK(kernel->code.substr(0, 4) == "\x7f"
                                       "ELF");
    CHECK(kernel->kind == "loop");
    CHECK(kernel->symbol == "halftone_" + kernelKey(loop("2.0"), target(name)).substr(0, 16));
    CHECK(kernel->target == target(name).key());
    CHECK(kernel->description == loop("2.0"));
    CHECK_THAT(dumps.legalized, Catch::Contains("tensor<?xi16>") && Catch::Contains("linalg.generic"));
    CHECK_THAT(dumps.emitted, Catch::Contains("scf.for") && !Catch::Contains("math.exp"));
    CHECK_THAT(dumps.llvm, Catch::Contains("define void @halftone_"));
    CHECK_THAT(dumps.assembly, Catch::Contains("halftone_"));
  }
}

TEST_CASE("A kernel for which there is no code is refused before any is made", "[kernels]") {
  std::string good = loop("2.0");
  good.insert(good.find("  %o = tensor.empty"), "  %one = arith.constant 1.0 : f32\n"
                                                "  %outside = arith.addf %one, %one : f32\n");
  CHECK(compileKernel(good, target("host")).isOk());
  const auto refused = [&](const std::string &from, const std::string &to, const std::string &expected) {
    std::string text = good;
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    CHECK_THAT(refusal(text.replace(at, from.size(), to)).diagnostics(), Catch::Contains(expected));
  };
  refused("    %e = math.exp", "    %d = tensor.dim %x, %e0 : tensor<?xf16>\n    %e = math.exp",
          "the op cannot be vectorized in a kernel's body");
  refused("arith.mulf %e, %c", "arith.mulf %e, %outside", "reads a value from outside the body");
  refused("halftone.kind = \"loop\"", "halftone.kind = \"reduction_loop\"",
          "a kernel of form reduction_loop has 1 linalg.generic; expected 2");
  const auto refusedCount = [&](const std::string &counts, const std::string &got) {
    refused("halftone.outer = 0 : i64", counts,
            "expected halftone.outer, halftone.reduced and halftone.indices to add up to at most 1 dims, got " + got);
  };
  refusedCount("halftone.outer = 2 : i64", "2, 0 and 0");
  refusedCount("halftone.outer = -1 : i64", "-1, 0 and 0");
  refusedCount("halftone.outer = 1 : i64, halftone.reduced = 9223372036854775807 : i64",
               "1, 9223372036854775807 and 0");
  refusedCount("halftone.outer = 0 : i64, halftone.indices = 2 : i64", "0, 0 and 2");
  refused("halftone.outer = 0 : i64", "halftone.outer = 0 : i64, halftone.lookup_arguments = -1 : i64",
          "expected an index argument for each dim and block size");
  refused("halftone.kind = \"loop\"", "halftone.kind = \"cumulative\"", "to add up to at most 1 dims, got 0, 0 and 0");
  refused("halftone.dims = array<i64: 0>", "halftone.dims = array<i64: 1>", "one dim of the kernel for each loop");
}

TEST_CASE("Kernels compile side by side, each to the same bytes as alone", "[kernels]") {
  std::vector<std::string> alone(4);
  for (size_t i = 0; i < alone.size(); ++i)
    alone[i] = compileKernel(loop(fmt::format("{}.0", i)), target("x86-64-v3"))->code;
  std::vector<std::thread> threads;
  std::atomic<int> same = 0;
  for (size_t i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      auto cpu = CpuTarget::find("x86-64-v3");
      if (auto kernel = compileKernel(loop(fmt::format("{}.0", i % 4)), *cpu);
          kernel.isOk() && kernel->code == alone[i % 4])
        ++same;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(same == 8);
}

TEST_CASE("A compiler makes of each kernel the bytes that a new one makes, also after many and after a refusal",
          "[kernels]") {
  const CpuTarget cpu = target("x86-64-v3");
  KernelCompiler compiler(cpu);
  const std::string first = compileKernel(loop("1.0"), cpu)->code, second = compileKernel(loop("2.0"), cpu)->code;
  KernelDumps ofFirst;
  REQUIRE(compileKernel(loop("1.0"), cpu, &ofFirst).isOk());
  for (int i = 0; i < 150; ++i) {
    CAPTURE(i);
    if (i % 40 == 7)
      CHECK_THAT(compiler.compile("not mlir at all").status().diagnostics(), Catch::Contains("'not' is unknown"));
    const auto kernel = compiler.compile(loop(i % 2 ? "2.0" : "1.0"));
    REQUIRE(kernel.isOk());
    CHECK(kernel->code == (i % 2 ? second : first));
    if (i % 40 == 9) { // the text too: its labels hold numbers
      KernelDumps dumps;
      REQUIRE(compiler.compile(loop("1.0"), &dumps).isOk());
      CHECK(dumps.assembly == ofFirst.assembly);
      CHECK(dumps.llvm == ofFirst.llvm);
    }
  }
}

namespace {

/// The host target, except that code stays in an `llvm.func`, as emitters of other targets leave it.
struct LlvmFunctionTarget : Target {
  CpuTarget host = target("host");
  llvm::SmallVector<llvm::StringLiteral> ops;

  LlvmFunctionTarget() { math = host.math; }
  std::string key() const override { return host.key(); }
  const Blocking &blocking(compiler::Numerics numerics) const override { return host.blocking(numerics); }
  const Lowerings &lowerings() const override { return host.lowerings(); }
  ScheduleAttrInterface schedule(mlir::MLIRContext *context, const KernelTraits &traits) const override {
    return host.schedule(context, traits);
  }
  int64_t scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const override {
    return host.scratchBytes(kernel, extents);
  }
  llvm::ArrayRef<llvm::StringLiteral> legalOps() const override { return ops; }
  StatusOr<std::unique_ptr<MachineCode>> machine() const override { return host.machine(); }
  StatusOr<std::string> makeCode(llvm::Module &module, MachineCode &machine, KernelDumps *dumps) const override {
    return host.makeCode(module, machine, dumps);
  }
  mlir::FailureOr<EmittedKernel> emit(mlir::func::FuncOp kernel) const override {
    auto module = kernel->getParentOfType<mlir::ModuleOp>();
    const std::string name = kernel.getSymName().str();
    mlir::FailureOr<EmittedKernel> code = host.emit(kernel);
    if (failed(code))
      return code;
    auto emitted = module.lookupSymbol<mlir::func::FuncOp>(name);
    mlir::OpBuilder builder(emitted);
    auto type = mlir::LLVM::LLVMFunctionType::get(mlir::LLVM::LLVMVoidType::get(module.getContext()),
                                                  emitted.getArgumentTypes());
    auto function = mlir::LLVM::LLVMFuncOp::create(builder, emitted.getLoc(), name, type);
    function.getBody().takeBody(emitted.getBody());
    mlir::Operation *end = function.getBody().back().getTerminator();
    builder.setInsertionPoint(end);
    mlir::LLVM::ReturnOp::create(builder, end->getLoc(), mlir::ValueRange());
    end->erase();
    emitted.erase();
    return code;
  }
};

} // namespace

TEST_CASE("An emitter may leave an llvm.func, if it is one of the target's legal ops", "[kernels]") {
  LlvmFunctionTarget other;
  auto refused = compileKernel(loop("2.0"), other);
  REQUIRE_FALSE(refused.isOk());
  CHECK_THAT(refused.status().diagnostics(),
             Catch::Contains("is not a legal op in emitted code") && Catch::Contains("llvm."));

  other.ops = {"llvm.func",          "llvm.return",        "llvm.intr.masked.load", "llvm.intr.masked.store",
               "llvm.intr.prefetch", "llvm.call_intrinsic"};
  KernelDumps dumps;
  auto kernel = compileKernel(loop("2.0"), other, &dumps);
  INFO(kernel.status().str() << (kernel.isOk() ? "" : kernel.status().diagnostics()));
  REQUIRE(kernel.isOk());
  CHECK(kernel->method == compileKernel(loop("2.0"), other.host)->method);
  CHECK(kernel->code == compileKernel(loop("2.0"), other.host)->code);
  CHECK_THAT(dumps.emitted, Catch::Contains("llvm.func") && !Catch::Contains("math.exp"));
}
