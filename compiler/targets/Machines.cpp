// Registration of LLVM's targets.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/MachineCode.h"
#include "llvm/Support/TargetSelect.h"
#include <mutex>

void halftone::compiler::initializeMachines() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  });
}
