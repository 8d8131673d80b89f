// LLVM's optimizer and code generator for the code of kernels, whatever the machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelDumps.h"
#include "compiler/kernels/KernelTimes.h"
#include "runtime/base/Status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>
#include <string_view>

namespace halftone::compiler {

/// Makes all machines of LLVM's known to it; once a process.
void initializeMachines();

/// internal_error.
Status codeGenerationFailure(std::string_view what, std::string detail = "");

/// A machine by LLVM's names.
struct MachineName {
  std::string triple, processor, features;
};

/// The passes over LLVM IR for code that comes vectorized, with its loops in the wanted order, and with nothing to inline or to
/// unroll.
llvm::FunctionPassManager usualPasses();

/// Makes the code of one module after another, on one thread. Products and sums fuse where `contract` says so and nowhere
/// else; no call to a library is made up. After a failure an object is of no more use.
class MachineCode {
public:
  /// internal_error when LLVM was built without the machine.
  static StatusOr<std::unique_ptr<MachineCode>> create(MachineName name);

  /// Optimizes `module` for the machine. `dumps`, unless null, gets llvm and instructions. The module is verified first if there are dumps, and
  /// always if so configured in CMake (HALFTONE_VERIFY_STAGES).
  Status optimize(llvm::Module &module, KernelDumps *dumps, llvm::FunctionPassManager passes = usualPasses());
  /// The optimized module as a file; it is used up. The code generator leaves out the passes with the arguments `without`. Fails
  /// when the machine has no such files, or with LLVM's errors.
  StatusOr<std::string> write(llvm::Module &module, llvm::CodeGenFileType type,
                              llvm::ArrayRef<llvm::StringLiteral> without = {});

  KernelTimes times; // of both, and of all that a KernelCompiler does before

private:
  friend class StaticObjects;
  static StatusOr<std::unique_ptr<MachineCode>> make(MachineName name);
  MachineCode(MachineName name, std::unique_ptr<llvm::TargetMachine> machine);

  MachineName name_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::TargetLibraryInfoImpl library_;
  std::string errors_; // of LLVM, while it works on modules
};

} // namespace halftone::compiler
