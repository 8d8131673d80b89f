// Lowers emitted code to the LLVM dialect, to LLVM IR, and to the target's code.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/Lowering.h"
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
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

const DialectRegistry &kernelDialects() {
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
    Target::registerDialects(*registry);
    return registry;
  }();
  return *all;
}

} // namespace

KernelContext::KernelContext() : MLIRContext(kernelDialects(), Threading::DISABLED) { loadAllAvailableDialects(); }

DiagnosticText::DiagnosticText(MLIRContext *context)
    : handler_(context, [this](Diagnostic &diagnostic) {
        llvm::raw_string_ostream stream(text_);
        stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
        for (Diagnostic &note : diagnostic.getNotes())
          stream << "  " << note << "\n";
        return success();
      }) {}

Status DiagnosticText::failure(std::string_view what) const {
  return Status(ErrorKind::internal_error, fmt::format("kernel compilation: {}", what), {}, {}, text_);
}

StatusOr<std::string> compiler::lowerToCode(ModuleOp module, const Target &target, MachineCode &machine,
                                            const DiagnosticText &diagnostics, std::vector<Core> &cores,
                                            KernelDumps *dumps) {
  const bool verifies = dumps || HALFTONE_VERIFY_STAGES;
  TimingScope phase = machine.times.phase("math");
  if (verifies && failed(verify(module)))
    return diagnostics.failure("the emitted code is not valid");
  if (failed(expandMath(module, target.math, cores)))
    return diagnostics.failure("the kernel's math cannot be expanded");
  for (auto function : module.getOps<FunctionOpInterface>())
    interleaveSteps(function);
  expandRoundings(module, target.math, cores);
  if (dumps) {
    llvm::raw_string_ostream stream(dumps->emitted);
    module.print(stream);
  }
  if (failed(checkLegalOps(module, target.legalOps())))
    return diagnostics.failure("the kernel contains an op that is not legal in emitted code");

  phase.stop();
  phase = machine.times.phase("MLIR's passes");
  PassManager passes(module.getContext());
  passes.enableVerifier(verifies);
  passes.addPass(createCSEPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(module)))
    return diagnostics.failure("the emitted code cannot be lowered to LLVM");
  phase.stop();
  phase = machine.times.phase("translate");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "kernel", /*disableVerification=*/!verifies);
  if (!llvmModule)
    return diagnostics.failure("the kernel cannot be translated to LLVM IR");
  phase.stop();
  return target.makeCode(*llvmModule, machine, dumps);
}
