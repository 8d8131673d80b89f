// The machine for which kernels are compiled: everything that passes, forms and the kernel compiler may query.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Core.h"
#include "compiler/kernels/KernelDumps.h"
#include "compiler/kernels/MathTraits.h"
#include "compiler/kernels/Numerics.h"
#include "compiler/kernels/Schedule.h"
#include "compiler/targets/Blocking.h"
#include "compiler/targets/FusionCosts.h"
#include "compiler/targets/KernelTraits.h"
#include "compiler/targets/Lowerings.h"
#include "compiler/targets/MachineCode.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/base/Status.h"
#include "runtime/plan/Executable.h"
#include "llvm/IR/Module.h"
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace halftone::compiler {

/// Properties of emitted code, besides the function itself.
struct EmittedKernel {
  std::string method; // how the code computes, for reports
  LaunchShape launch;
  std::vector<Core> cores = {}; // the cores that the function calls
};

/// A kind of machine. Each kind has a folder in compiler/targets.
class Target {
public:
  /// "host" (this machine's CPU), "x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids", "graniterapids", any other
  /// "<triple>[:<cpu>]" that LLVM was built with, or "sm_80[:<multiprocessors>]" (NVIDIA GPUs). The prefix "emulated:"
  /// of an x86 CPU selects the blocks and instructions of that CPU, except AMX, and emulates them, slowly, by those of
  /// this machine, so that its code can be tested here. For an unknown `name`, returns a value_error that lists the
  /// known names.
  static StatusOr<std::shared_ptr<const Target>> find(std::string_view name);
  /// Registers the dialects that belong to one kind of target, with their lowerings to LLVM IR.
  static void registerDialects(mlir::DialectRegistry &registry);
  /// The target that the module's attribute `halftone.target` names, or `otherwise` without the attribute. Returns a
  /// value_error if the attribute names no target.
  static StatusOr<std::shared_ptr<const Target>> of(mlir::ModuleOp module, std::string_view otherwise = "host");
  /// The attribute that of() reads.
  static constexpr llvm::StringLiteral attribute = "halftone.target";
  /// A target that is the same on every machine, for passes that tests and examples run alone.
  static constexpr llvm::StringLiteral reference = "x86-64-v3";
  virtual ~Target() = default;

  std::string name;      // as requested
  std::string processor; // LLVM's -mcpu: "znver4"
  MathTraits math;
  bool shortIndices = false; // i32 indices are faster than i64 ones

  /// Everything that determines the code of a kernel; part of every kernel's key.
  virtual std::string key() const = 0;
  /// How kernels are partitioned into blocks. The partition of sums affects results. Traits that are passed to the
  /// blocking must have these numerics.
  virtual const Blocking &blocking(Numerics numerics) const = 0;
  /// Which ops and layouts kernels read. Queried before kernels are formed.
  virtual const Lowerings &lowerings() const = 0;
  /// The thresholds by which a legal fusion is profitable.
  virtual FusionCosts fusionCosts() const { return {}; }
  /// The schedule of a kernel with these traits; null if there is no choice. Loads the dialect of the schedule into
  /// `context`.
  virtual ScheduleAttrInterface schedule(mlir::MLIRContext *context, const KernelTraits &traits) const = 0;
  /// The bytes of scratch per thread, or per block on a GPU, that the code of `kernel` uses for these extents. `kernel`
  /// is a linalg form, legalized or not.
  virtual int64_t scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const = 0;

  /// Replaces `kernel`, a linalg form after legalize-storage (docs/kernel-form.md), by its code: a function of the same
  /// name, which consists of legal ops (checkLegalOps), of math ops and roundings that later steps expand, and
  /// declarations of the cores that it calls. On failure a diagnostic names the unsupported part of the kernel.
  virtual mlir::FailureOr<EmittedKernel> emit(mlir::func::FuncOp kernel) const = 0;
  /// The full names of the ops that are legal only in this target's code: its functions and its instructions.
  virtual llvm::ArrayRef<llvm::StringLiteral> legalOps() const = 0;
  /// LLVM's target machine, which generates the code of kernels one after another.
  virtual StatusOr<std::unique_ptr<MachineCode>> machine() const = 0;
  /// Generates the bytes that a device loads from code in LLVM IR, with a machine() of this target. `dumps`, unless
  /// null, gets llvm and assembly.
  virtual StatusOr<std::string> makeCode(llvm::Module &module, MachineCode &machine, KernelDumps *dumps) const = 0;
};

} // namespace halftone::compiler
