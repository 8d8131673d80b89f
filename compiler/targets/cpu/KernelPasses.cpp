// The list of passes over the code of kernels on CPUs, with the reason for each pass that is left out.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/KernelPasses.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace halftone::compiler {

namespace {

/// CPUs whose code does without a pass.
enum class On : uint8_t {
  all,
  x86 // benchmarks have measured it there alone, or the pass is one of x86
};

struct LeftOut {
  llvm::StringLiteral argument; // LLVM's name of the pass
  On on;
};

// Strength reduction of addresses with its preparation: of all passes here they take the longest. An x86 address has a base, a
// scaled index and an offset, which serve the loops of most kernels as they are. Those with manyPointersAttr keep it.
constexpr LeftOut strengthReduction[] = {{"canon-freeze", On::x86}, {"loop-reduce", On::x86}};

constexpr LeftOut rest[] = {
    // The scheduler before register allocation has ordered the code, and these CPUs reorder it anyway.
    {"post-RA-sched", On::x86},
    // They replace calls of functions of C, which kernels do not make, and their memory intrinsics.
    {"mergeicmps", On::all},
    {"expand-memcmp", On::all},
    {"partially-inline-libcalls", On::all},
    {"replace-with-veclib", On::all},
    // Kernels have no garbage collector and no statepoints.
    {"gc-lowering", On::all},
    {"shadow-stack-gc-lowering", On::all},
    {"gc-analysis", On::all},
    {"fixup-statepoint-caller-saved", On::all},
    {"stackmap-liveness", On::all},
    // No function unwinds or has funclets.
    {"dwarf-eh-prepare", On::all},
    {"funclet-layout", On::all},
    // Kernels hold no indirect branches, no asm goto and no code of Objective-C.
    {"indirectbr-expand", On::all},
    {"callbrprepare", On::all},
    {"objc-arc-contract", On::all},
    // Instrumentation and hardening, which function attributes ask for; kernels have none of these attributes.
    {"post-inline-ee-instrument", On::all},
    {"fentry-insert", On::all},
    {"xray-instrumentation", On::all},
    {"patchable-function", On::all},
    {"safe-stack", On::all},
    {"stack-protector", On::all},
    {"kcfi", On::all},
    {"machine-sanmd", On::all},
    {"pseudo-probe-inserter", On::all},
    {"x86-slh", On::x86},
    {"x86-lvi-load", On::x86},
    {"x86-lvi-ret", On::x86},
    {"x86-seses", On::x86},
    {"x86-return-thunks", On::x86},
    // Kernels have no debug information, and nobody reads these reports.
    {"removeredundantdebugvalues", On::all},
    {"livedebugvalues", On::all},
    {"remove-loads-into-fake-uses", On::all},
    {"stack-frame-layout", On::all},
    {"regallocscoringpass", On::all},
};

bool isX86(const CpuTarget &cpu) { return llvm::Triple(cpu.triple).isX86(); }

bool hasManyPointers(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) { return function.hasFnAttribute(manyPointersAttr); });
}

} // namespace

void markManyPointers(mlir::func::FuncOp code) {
  code->setAttr("passthrough", mlir::Builder(code).getStrArrayAttr({manyPointersAttr}));
}

llvm::FunctionPassManager kernelPasses(const llvm::Module &module, const CpuTarget &cpu) {
  if (!isX86(cpu)) // where nobody has measured
    return usualPasses();
  llvm::InstCombineOptions once;
  once.setVerifyFixpoint(false); // by default instcombine ends the process when one round is not enough
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerExpectIntrinsicPass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(llvm::InstCombinePass(once));
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  if (!cpu.hasMaskedMemory || hasManyPointers(module)) // 16 vector registers, or for strength reduction
    loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  passes.addPass(llvm::InstSimplifyPass());
  return passes;
}

llvm::SmallVector<llvm::StringLiteral, 0> passesLeftOut(const llvm::Module &module, const CpuTarget &cpu) {
  llvm::SmallVector<llvm::StringLiteral, 0> arguments;
  const auto add = [&](llvm::ArrayRef<LeftOut> passes) {
    for (const LeftOut &pass : passes)
      if (pass.on == On::all || isX86(cpu))
        arguments.push_back(pass.argument);
  };
  add(rest);
  if (!hasManyPointers(module))
    add(strengthReduction);
  return arguments;
}

} // namespace halftone::compiler
