// From a kernel's linalg form to an object: bytes in, bytes out, safe to call from many threads.
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
/// The same of a core's code, whose symbol stands for its text.
std::string coreKey(const Core &core, const Target &target);

struct KernelContext;

/// Compiles kernels for one target on one thread, one after another, and keeps from one to the next the parts that take
/// long to make: MLIR's context and LLVM's machine.
class KernelCompiler {
public:
  /// `target` must outlive it, and so must the scope of `times`, which gets a row for each phase.
  explicit KernelCompiler(const Target &target, const KernelTimes &times = {});
  ~KernelCompiler();
  KernelCompiler(const KernelCompiler &) = delete;
  /// legalize-storage, emit, expand-math, check-legal-ops, translate, codegen.
  StatusOr<KernelCode> compile(std::string_view linalgText, KernelDumps *dumps = nullptr);
  /// The same from emit on. The code is KernelCode of kind "core", without a description.
  StatusOr<KernelCode> compile(const Core &core, KernelDumps *dumps = nullptr);
  /// The cores, by key, that the code of the last kernel calls: those of its KernelCode::uses.
  const std::map<std::string, Core> &cores() const { return cores_; }

private:
  template <class Compile> StatusOr<KernelCode> compileInContext(Compile compile);
  StatusOr<KernelCode> compileKernel(std::string_view linalgText, KernelDumps *dumps);
  StatusOr<KernelCode> compileCore(const Core &core, KernelDumps *dumps);

  const Target &target_;
  const KernelTimes times_;
  std::unique_ptr<KernelContext> context_;
  std::unique_ptr<MachineCode> machine_;
  int kernels_ = 0; // and cores that these two have compiled
  std::map<std::string, Core> cores_;
};

/// Compiles a kernel with a KernelCompiler of its own. `cores`, unless null, gets the code of the kernel's cores by key; those
/// that it has already are not compiled.
StatusOr<KernelCode> compileKernel(std::string_view linalgText, const Target &target, KernelDumps *dumps = nullptr,
                                   std::map<std::string, KernelCode> *cores = nullptr);

} // namespace halftone::compiler
