// The machine that kernels are compiled for: all that passes, forms and the kernel compiler may ask of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelDumps.h"
#include "compiler/kernels/MathTraits.h"
#include "compiler/kernels/Numerics.h"
#include "compiler/kernels/Schedule.h"
#include "compiler/targets/Blocking.h"
#include "compiler/targets/Core.h"
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

/// Emitted code beside the function itself.
struct EmittedKernel {
  std::string method; // how the code computes, for reports
  LaunchShape launch;
  std::vector<Core> cores = {}; // that the function calls
};

/// A kind of machine. Each kind has a folder in compiler/targets.
class Target {
public:
  /// "host" (this machine's CPU), "x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids", "graniterapids", any other
  /// "<triple>[:<cpu>]" that LLVM was built with, or "sm_80[:<multiprocessors>]" (NVIDIA GPUs). "emulated:" before the name of an x86 CPU: blocks
  /// and instructions of that CPU, less AMX, computed by those of this machine, slowly; so its code can be tried here.
  /// value_error listing the known names when `name` is none.
  static StatusOr<std::shared_ptr<const Target>> find(std::string_view name);
  /// Adds the dialects that belong to one kind of target, with their lowerings to LLVM IR.
  static void registerDialects(mlir::DialectRegistry &registry);
  /// The target that the module's attribute `halftone.target` names, or `otherwise` if the module has none. value_error if the
  /// attribute names none.
  static StatusOr<std::shared_ptr<const Target>> of(mlir::ModuleOp module, std::string_view otherwise = "host");
  /// The attribute that of() reads.
  static constexpr llvm::StringLiteral attribute = "halftone.target";
  /// A target that is the same on every machine, for passes that tests and examples run alone.
  static constexpr llvm::StringLiteral reference = "x86-64-v3";
  virtual ~Target() = default;

  std::string name;      // as asked
  std::string processor; // LLVM's -mcpu: "znver4"
  MathTraits math;
  bool shortIndices = false; // i32 indices are faster than i64 ones

  /// All that decides which code a kernel becomes: part of every kernel's key.
  virtual std::string key() const = 0;
  /// How kernels are cut into blocks; the cuts of sums are part of the results. Traits that are passed to it have these numerics.
  virtual const Blocking &blocking(Numerics numerics) const = 0;
  /// Which ops and layouts kernels read. Asked before kernels are formed.
  virtual const Lowerings &lowerings() const = 0;
  /// When a legal fusion pays.
  virtual FusionCosts fusionCosts() const { return {}; }
  /// How the code of a kernel with these traits computes; null where there is no choice. The dialect of the schedule is loaded
  /// into `context`.
  virtual ScheduleAttrInterface schedule(mlir::MLIRContext *context, const KernelTraits &traits) const = 0;
  /// Bytes of scratch per thread, on a GPU per block, that the code of `kernel` uses at these extents. `kernel` is a linalg
  /// form, legalized or not.
  virtual int64_t scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const = 0;

  /// Replaces `kernel`, a linalg form after legalize-storage (docs/kernel-form.md), by its code: a function of the same
  /// name, of ops that kernels' code may have (checkLegalOps) and of math that expand-math knows, beside
  /// declarations of the cores that it calls. On failure a diagnostic says which part of the kernel has no code.
  virtual mlir::FailureOr<EmittedKernel> emit(mlir::func::FuncOp kernel) const = 0;
  /// The ops, by full name, that only this target's code may hold: its functions, and its instructions.
  virtual llvm::ArrayRef<llvm::StringLiteral> legalOps() const = 0;
  /// LLVM's machine of this target, which makes the code of kernels one after another.
  virtual StatusOr<std::unique_ptr<MachineCode>> machine() const = 0;
  /// The bytes that a device loads, of code in LLVM IR, made by a machine() of this target. `dumps`, unless null, gets llvm and
  /// assembly.
  virtual StatusOr<std::string> makeCode(llvm::Module &module, MachineCode &machine, KernelDumps *dumps) const = 0;
};

} // namespace halftone::compiler
