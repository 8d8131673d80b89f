// The way of one kernel: parse, legalize, emit, check, lower to LLVM, generate code.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/KernelCompiler.h"
#include "compiler/KernelCache.h"
#include "compiler/kernels/ObjectCode.h"
#include "compiler/kernels/Steps.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SHA256.h"
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

const DialectRegistry &registry() {
  static const DialectRegistry *const all = [] {
    auto *registry = new DialectRegistry;
    registry->insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
                     LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect, ub::UBDialect,
                     vector::VectorDialect>();
    arith::registerConvertArithToLLVMInterface(*registry);
    cf::registerConvertControlFlowToLLVMInterface(*registry);
    registerConvertFuncToLLVMInterface(*registry);
    registerConvertMathToLLVMInterface(*registry);
    ub::registerConvertUBToLLVMInterface(*registry);
    vector::registerConvertVectorToLLVMInterface(*registry);
    registerBuiltinDialectTranslation(*registry);
    registerLLVMDialectTranslation(*registry);
    return registry;
  }();
  return *all;
}

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
  else if (!function->getAttrOfType<StringAttr>("halftone.kind")) {
    function.emitError("expected the string attribute halftone.kind");
    return nullptr;
  }
  return function;
}

/// Replaces the kernel's function by its code.
LogicalResult emitKernel(func::FuncOp kernel, const CpuTarget &cpu) {
  using Emitter = LogicalResult (*)(func::FuncOp, const CpuTarget &, OpBuilder &);
  const StringRef kind = kernel->getAttrOfType<StringAttr>("halftone.kind").getValue();
  const Emitter emitter = llvm::StringSwitch<Emitter>(kind).Default(nullptr);
  if (!emitter)
    return kernel.emitError() << "no emitter for halftone.kind = \"" << kind << "\"";
  OpBuilder builder(kernel);
  return emitter(kernel, cpu, builder);
}

void print(ModuleOp module, std::string &text) {
  llvm::raw_string_ostream stream(text);
  module.print(stream);
}

LogicalResult lowerToLlvm(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.enableVerifier(true);
  passes.addPass(createCSEPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  return passes.run(module);
}

std::string hexDigest(std::string_view text) {
  llvm::SHA256 hash;
  hash.update(llvm::StringRef(text.data(), text.size()));
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

/// Everything in MLIR; the context's handler has the diagnostics of a failure.
LogicalResult lowerKernel(ModuleOp module, const CpuTarget &cpu, StringRef symbol, std::string &kind,
                          KernelDumps *dumps) {
  func::FuncOp kernel = kernelFunction(module);
  if (!kernel)
    return failure();
  kind = kernel->getAttrOfType<StringAttr>("halftone.kind").str();
  kernel.setSymName(symbol);
  if (failed(verify(module)))
    return failure();
  if (dumps)
    print(module, dumps->legalized);
  if (failed(emitKernel(kernel, cpu)))
    return failure();
  if (dumps)
    print(module, dumps->emitted);
  if (failed(verify(module)) || failed(checkVocabulary(module)))
    return failure();
  return lowerToLlvm(module);
}

} // namespace

std::string compiler::kernelKey(std::string_view linalgText, const CpuTarget &target) {
  return hexDigest(fmt::format("{}\n{}\n{}", buildId(), target.key(), linalgText));
}

StatusOr<KernelCode> compiler::compileKernel(std::string_view linalgText, const CpuTarget &target, KernelDumps *dumps) {
  MLIRContext context(registry(), MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(false);
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream stream(diagnostics);
    stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      stream << "  " << note << "\n";
    return success();
  });
  const auto fail = [&](const char *what) {
    return Status(ErrorKind::runtime_error, fmt::format("kernel compilation: {}", what), {}, {}, diagnostics);
  };

  ParserConfig config(&context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(StringRef(linalgText.data(), linalgText.size()), config);
  if (!module)
    return fail("the linalg form does not parse");
  KernelCode kernel;
  kernel.symbol = "halftone_" + kernelKey(linalgText, target).substr(0, 16);
  kernel.target = target.key();
  kernel.description = std::string(linalgText);
  if (failed(lowerKernel(*module, target, kernel.symbol, kernel.kind, dumps)))
    return fail("the linalg form cannot be turned into code");

  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(*module, llvmContext, "kernel");
  if (!llvmModule)
    return fail("no LLVM IR for the kernel");
  StatusOr<std::string> object = generateObject(*llvmModule, target, dumps);
  HALFTONE_RETURN_IF_ERROR(object.status());
  kernel.code = std::move(*object);
  return kernel;
}
