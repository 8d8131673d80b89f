// Compiles the linalg form of a kernel to an object, from bytes to bytes; safe to call from many threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "runtime/plan/Executable.h"
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace halftone::compiler {

/// The key of a kernel's code: a hash of its linalg text (without locations), the target's key and the code id.
std::string kernelKey(std::string_view linalgText, const Target &target);
/// The key of a core's code. The core's symbol is hashed instead of a text.
std::string coreKey(const Core &core, const Target &target);

struct KernelContext;

/// Compiles kernels for one target on one thread, one after another. Keeps the parts that are expensive to create,
/// MLIR's context and LLVM's target machine, from one kernel to the next.
class KernelCompiler {
public:
  /// `target` and the scope of `times`, which gets a row for each phase, must outlive the compiler.
  explicit KernelCompiler(const Target &target, const KernelTimes &times = {});
  ~KernelCompiler();
  KernelCompiler(const KernelCompiler &) = delete;
  /// Runs legalize-storage, emit, expand-math, interleave-steps, expand-roundings, check-legal-ops, translate and
  /// codegen.
  StatusOr<KernelCode> compile(std::string_view linalgText, KernelDumps *dumps = nullptr);
  /// Runs the steps from emit on. Returns KernelCode of kind "core", without a description.
  StatusOr<KernelCode> compile(const Core &core, KernelDumps *dumps = nullptr);
  /// The cores, by key, that the code of the last kernel calls (its KernelCode::uses).
  const std::map<std::string, Core> &cores() const { return cores_; }

private:
  template <class Compile> StatusOr<KernelCode> compileInContext(Compile compile);
  StatusOr<KernelCode> compileKernel(std::string_view linalgText, KernelDumps *dumps);
  StatusOr<KernelCode> compileCore(const Core &core, KernelDumps *dumps);

  const Target &target_;
  const KernelTimes times_;
  std::unique_ptr<KernelContext> context_;
  std::unique_ptr<MachineCode> machine_;
  int kernels_ = 0; // number of kernels and cores that these two have compiled
  std::map<std::string, Core> cores_;
};

/// Compiles a kernel with a new KernelCompiler. `cores`, unless null, gets the code of the kernel's cores by key; cores
/// that it already contains are not compiled.
StatusOr<KernelCode> compileKernel(std::string_view linalgText, const Target &target, KernelDumps *dumps = nullptr,
                                   std::map<std::string, KernelCode> *cores = nullptr);

} // namespace halftone::compiler
