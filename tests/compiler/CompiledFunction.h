// Loads the code of kernels as callable functions, for the tests of code generation.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/codegen/KernelCompiler.h"
#include "compiler/codegen/Lowering.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "runtime/loader/ObjectLoader.h"
#include <algorithm>
#include <catch2/catch.hpp>

namespace halftone::compiler {

inline std::string describe(const Status &status) {
  return status.isOk() ? "ok" : status.str() + "\n" + status.diagnostics();
}

inline CpuTarget targetNamed(std::string_view name) {
  auto found = CpuTarget::find(name);
  INFO(found.status().str());
  REQUIRE(found.isOk());
  return *found;
}

/// The CPU levels whose code this machine can run.
inline std::vector<std::string> runnableTargets() {
  std::vector<std::string> names = {"x86-64-v2"};
  const CpuTarget host = targetNamed("host");
  if (host.vectorBytes >= 32)
    names.push_back("x86-64-v3");
  if (host.vectorBytes >= 64)
    names.push_back("x86-64-v4");
  names.push_back("host");
  return names;
}

/// The runnable CPU levels, and emulated AVX-512 if it is not among them.
inline std::vector<std::string> targetsOfMath() {
  std::vector<std::string> names = runnableTargets();
  const bool isHere = std::find(names.begin(), names.end(), "x86-64-v4") != names.end();
  if (!isHere && targetNamed("host").vectorBytes >= 32)
    names.push_back("emulated:x86-64-v4");
  return names;
}

/// The runnable CPU levels, and an emulated CPU whose instruction for roundings to bf16 flushes subnormal numbers.
inline std::vector<std::string> targetsOfRoundings() {
  std::vector<std::string> names = runnableTargets();
  if (targetNamed("host").vectorBytes >= 32)
    names.push_back("emulated:x86_64-unknown-linux-gnu:znver4");
  return names;
}

/// A loaded kernel, which keeps its library alive.
struct Loaded {
  std::shared_ptr<const KernelLibrary> library;
  CpuKernelFunction function = nullptr;

  /// Loads `code`; `kernels` holds the cores that it uses.
  explicit Loaded(KernelCode code, std::map<std::string, KernelCode> kernels = {}) {
    kernels.emplace("kernel", std::move(code));
    auto loaded = loadObjects(kernels);
    INFO(loaded.status().str());
    REQUIRE(loaded.isOk());
    library = *loaded;
    auto found = library->find("kernel");
    INFO(found.status().str());
    REQUIRE(found.isOk());
    function = found->function();
  }
};

/// Loads emitted code: a func.func @kernel with the ABI's type, which may declare `cores`.
inline Loaded loadModule(mlir::ModuleOp module, const CpuTarget &cpu, std::vector<Core> cores = {}) {
  const DiagnosticText diagnostics(module.getContext());
  auto object = lowerToCode(module, cpu, **cpu.machine(), diagnostics, cores);
  INFO(describe(object.status()));
  REQUIRE(object.isOk());
  KernelCode kernel{"kernel", "loop", cpu.key(), "", *object};
  std::map<std::string, KernelCode> called;
  for (const Core &core : cores) {
    auto code = KernelCompiler(cpu).compile(core);
    INFO(describe(code.status()) << core.symbol);
    REQUIRE(code.isOk());
    kernel.uses.push_back(coreKey(core, cpu));
    called.emplace(kernel.uses.back(), std::move(*code));
  }
  return Loaded(std::move(kernel), std::move(called));
}

/// Loads emitted code from its text.
inline Loaded loadEmitted(const std::string &text, const CpuTarget &cpu, std::vector<Core> cores = {}) {
  KernelContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    const DiagnosticText diagnostics(&context);
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
    INFO(diagnostics.failure("").diagnostics() << text);
    REQUIRE(module);
  }
  return loadModule(*module, cpu, std::move(cores));
}

/// Loads the code of a core as a kernel, so that the library finds it.
inline Loaded loadCore(const Core &core, const CpuTarget &cpu) {
  auto code = KernelCompiler(cpu).compile(core);
  INFO(describe(code.status()));
  REQUIRE(code.isOk());
  CHECK(code->isCore());
  CHECK(code->symbol == core.symbol);
  CHECK(code->target == cpu.key());
  CHECK(code->uses.empty());
  code->kind = "loop";
  return Loaded(std::move(*code));
}

/// Loads a kernel from its linalg form.
inline Loaded loadKernel(const std::string &text, const CpuTarget &cpu, KernelDumps *dumps = nullptr) {
  std::map<std::string, KernelCode> cores;
  auto kernel = compileKernel(text, cpu, dumps, &cores);
  INFO(describe(kernel.status()) << text);
  REQUIRE(kernel.isOk());
  return Loaded(*kernel, std::move(cores));
}

} // namespace halftone::compiler
