// The passes over the code of kernels on CPUs, with the reason for each pass that is skipped.
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

/// The CPUs for which a pass is skipped.
enum class On : uint8_t {
  all,
  x86 // benchmarked only there, or a pass of the x86 backend
};

struct SkippedPass {
  llvm::StringLiteral argument; // the name of the pass in LLVM
  On on;
};

// Strength reduction of addresses, with its preparation: of all passes here it takes the longest. An x86 address has a
// base, a scaled index and an offset, which suffice for the loops of kernels. Cores with manyPointersAttr keep these
// passes.
constexpr SkippedPass strengthReduction[] = {{"canon-freeze", On::x86}, {"loop-reduce", On::x86}};

constexpr SkippedPass rest[] = {
    // The scheduler before register allocation has ordered the code, and these CPUs execute out of order anyway.
    {"post-RA-sched", On::x86},
    // These replace calls of C functions, which kernels do not contain except for memory intrinsics.
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
    // Kernels contain no indirect branches, no asm goto and no Objective-C.
    {"indirectbr-expand", On::all},
    {"callbrprepare", On::all},
    {"objc-arc-contract", On::all},
    // Instrumentation and hardening, which function attributes request; kernels have none of these attributes.
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
    // Kernels have no debug information, and these reports are not used.
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
  if (!isX86(cpu)) // not benchmarked
    return usualPasses();
  llvm::InstCombineOptions once;
  once.setVerifyFixpoint(false); // by default instcombine aborts if one iteration is not enough
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerExpectIntrinsicPass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(llvm::InstCombinePass(once));
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  if (!cpu.hasMaskedMemory || hasManyPointers(module)) // 16 vector registers, or needed by strength reduction
    loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  passes.addPass(llvm::InstSimplifyPass());
  return passes;
}

llvm::SmallVector<llvm::StringLiteral, 0> skippedPasses(const llvm::Module &module, const CpuTarget &cpu) {
  llvm::SmallVector<llvm::StringLiteral, 0> arguments;
  const auto add = [&](llvm::ArrayRef<SkippedPass> passes) {
    for (const SkippedPass &pass : passes)
      if (pass.on == On::all || isX86(cpu))
        arguments.push_back(pass.argument);
  };
  add(rest);
  if (!hasManyPointers(module))
    add(strengthReduction);
  return arguments;
}

} // namespace halftone::compiler
