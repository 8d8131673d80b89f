// Translation of LLVM IR to PTX, and checks that the PTX is self-contained.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/PtxCode.h"
#include "compiler/targets/MachineCode.h"
#include "compiler/targets/nvptx/PtxRounding.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler;

namespace {

/// Rejects calls of functions that `module` does not define: LLVM would abort at some of them.
Status checkCalls(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call || call->isInlineAsm())
        continue;
      const llvm::Function *callee = call->getCalledFunction();
      const llvm::StringRef name = callee ? callee->getName() : "an unknown function";
      if (!callee || !callee->isIntrinsic() || (callee->isTargetIntrinsic() && !name.starts_with("llvm.nvvm.")))
        return codeGenerationFailure(
            fmt::format("the kernel would call {}; expected code without calls", std::string_view(name)));
    }
  return Status::ok();
}

/// Rejects calls, which LLVM generates for operations without instructions.
Status checkText(std::string_view ptx) {
  const size_t call = ptx.find(".extern .func");
  if (call == ptx.npos)
    return Status::ok();
  const std::string_view line = ptx.substr(call, ptx.find(';', call) - call);
  return codeGenerationFailure("the kernel would call a function; expected code without calls", std::string(line));
}

/// Checks that a strict kernel gives the same bits on every GPU.
Status checkRounding(llvm::Module &module, std::string_view ptx) {
  const llvm::StringRef name(strictFunction);
  if (llvm::none_of(module, [&](const llvm::Function &function) { return function.hasFnAttribute(name); }))
    return Status::ok();
  const std::string unrounded = unroundedInstruction(ptx);
  if (unrounded.empty())
    return Status::ok();
  return codeGenerationFailure(fmt::format(
      "a strict kernel would contain \"{}\"; expected an instruction that is exact or specifies its rounding",
      unrounded));
}

} // namespace

StatusOr<std::string> compiler::generatePtx(llvm::Module &module, MachineCode &machine, KernelDumps *dumps) {
  HALFTONE_RETURN_IF_ERROR(machine.optimize(module, dumps));
  HALFTONE_RETURN_IF_ERROR(checkCalls(module));
  auto ptx = machine.write(module, llvm::CodeGenFileType::AssemblyFile);
  HALFTONE_RETURN_IF_ERROR(ptx.status());
  HALFTONE_RETURN_IF_ERROR(checkText(*ptx));
  HALFTONE_RETURN_IF_ERROR(checkRounding(module, *ptx));
  if (dumps)
    dumps->assembly = *ptx;
  return ptx;
}
