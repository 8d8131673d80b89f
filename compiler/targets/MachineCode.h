// LLVM's optimizer and code generator for kernels, for any machine.
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

/// Registers all machines with LLVM; once per process.
void initializeMachines();

/// Returns an internal_error.
Status codeGenerationFailure(std::string_view what, std::string detail = "");

/// A machine by its names in LLVM.
struct MachineName {
  std::string triple, processor, features;
};

/// The passes over LLVM IR for code that is already vectorized, with loops in their final order, and with nothing to
/// inline or to unroll.
llvm::FunctionPassManager usualPasses();

/// Compiles modules one after another on one thread. Products and sums fuse exactly where `contract` permits it; no
/// library calls are introduced. After a failure an object must not be used.
class MachineCode {
public:
  /// internal_error if LLVM was built without the machine.
  static StatusOr<std::unique_ptr<MachineCode>> create(MachineName name);
  ~MachineCode();

  /// Optimizes `module` for the machine. If `dumps` is not null, sets its llvm and instructions. Verifies the module
  /// first if there are dumps, and always if CMake's HALFTONE_VERIFY_STAGES is set.
  Status optimize(llvm::Module &module, KernelDumps *dumps, llvm::FunctionPassManager passes = usualPasses());
  /// Generates a file from the optimized module, which is consumed. The code generator skips the passes with the
  /// arguments `without`. Fails if the machine has no files of that type, or with LLVM's errors.
  StatusOr<std::string> write(llvm::Module &module, llvm::CodeGenFileType type,
                              llvm::ArrayRef<llvm::StringLiteral> without = {});

  KernelTimes times; // of optimize() and write(), and of what a KernelCompiler does before them

private:
  class Optimizer;
  class Writer;
  friend class StaticObjects;
  static StatusOr<std::unique_ptr<MachineCode>> make(MachineName name);
  MachineCode(MachineName name, std::unique_ptr<llvm::TargetMachine> machine);

  MachineName name_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::TargetLibraryInfoImpl library_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::unique_ptr<Writer>> writers_; // one for each type of file and set of skipped passes
  std::string errors_;                           // from LLVM, while it processes a module
};

} // namespace halftone::compiler
