// From a kernel's linalg form to an object: bytes in, bytes out, safe to call from many threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/CpuTarget.h"
#include "runtime/plan/Executable.h"
#include <string>

namespace halftone::compiler {

/// The key of a kernel's code: a hash of its linalg text (without locations), the target's key and the build id.
std::string kernelKey(std::string_view linalgText, const CpuTarget &target);

struct KernelDumps { // filled when asked for, for --stop-after and dump_ir
  std::string legalized; // linalg after legalize-storage
  std::string emitted;   // after the emitter and expand-math: func, scf, vector, llvm
  std::string llvm;      // LLVM IR, optimized
  std::string assembly;
};

/// legalize-storage, emit, expand-math, check-vocabulary, translate, codegen. Own MLIR context per call.
StatusOr<KernelCode> compileKernel(std::string_view linalgText, const CpuTarget &target, KernelDumps *dumps = nullptr);

} // namespace halftone::compiler
