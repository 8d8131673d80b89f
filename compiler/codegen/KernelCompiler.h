// From a kernel's linalg form to an object: bytes in, bytes out, safe to call from many threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "runtime/plan/Executable.h"
#include <string>

namespace halftone::compiler {

/// The key of a kernel's code: a hash of its linalg text (without locations), the target's key and the build id.
std::string kernelKey(std::string_view linalgText, const Target &target);

/// legalize-storage, emit, expand-math, check-vocabulary, translate, codegen. Own MLIR context per call.
StatusOr<KernelCode> compileKernel(std::string_view linalgText, const Target &target, KernelDumps *dumps = nullptr);

} // namespace halftone::compiler
