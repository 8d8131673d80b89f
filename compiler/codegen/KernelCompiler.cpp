// The way of one kernel: parse, legalize, emit, check, lower to LLVM, generate code.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCompiler.h"
#include "compiler/codegen/KernelCache.h"
#include "compiler/codegen/Lowering.h"
#include "compiler/kernels/KernelForm.h"
#include "compiler/kernels/Steps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/base/Sha256.h"
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// The one function of a kernel's module, or a diagnostic.
func::FuncOp kernelFunction(ModuleOp module) {
  func::FuncOp function;
  for (Operation &op : *module.getBody()) {
    auto candidate = dyn_cast<func::FuncOp>(op);
    if (!candidate || function || candidate.isExternal()) {
      op.emitError("expected one func.func with a body in a kernel's module");
      return nullptr;
    }
    function = candidate;
  }
  if (!function)
    module.emitError("expected one func.func with a body in a kernel's module");
  return function;
}

} // namespace

std::string compiler::kernelKey(std::string_view linalgText, const Target &target) {
  return sha256(fmt::format("{}\n{}\n{}", codeId(), target.key(), linalgText));
}

StatusOr<KernelCode> compiler::compileKernel(std::string_view linalgText, const Target &target, KernelDumps *dumps) {
  KernelContext context;
  const DiagnosticText diagnostics(&context);
  ParserConfig config(&context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(StringRef(linalgText.data(), linalgText.size()), config);
  if (!module)
    return diagnostics.failure("the linalg form does not parse");
  func::FuncOp function = kernelFunction(*module);
  FailureOr<KernelForm> form = failure();
  if (function)
    form = KernelForm::read(function);
  if (failed(form))
    return diagnostics.failure("the linalg form is no kernel");
  KernelCode kernel;
  kernel.symbol = "halftone_" + kernelKey(linalgText, target).substr(0, 16);
  kernel.kind = dialect::stringifyKernelKind(form->kind).str();
  kernel.target = target.key();
  kernel.description = std::string(linalgText);
  function.setSymName(kernel.symbol);
  if (failed(legalizeStorage(function, target.math)) || failed(verify(*module)))
    return diagnostics.failure("the kernel's storage cannot be legalized");
  if (dumps) {
    llvm::raw_string_ostream stream(dumps->legalized);
    module->print(stream);
  }
  FailureOr<EmittedKernel> emitted = target.emit(function);
  if (failed(emitted))
    return diagnostics.failure("the linalg form cannot be turned into code");
  kernel.method = std::move(emitted->method);
  kernel.launch = emitted->launch;
  StatusOr<std::string> object = lowerToCode(*module, target, diagnostics, dumps);
  HALFTONE_RETURN_IF_ERROR(object.status());
  kernel.code = std::move(*object);
  return kernel;
}
