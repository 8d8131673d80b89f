// Textual dumps of a kernel, from the linalg form to assembly.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone::compiler {

/// Filled on request, for --stop-after and dump_ir.
struct KernelDumps {
  std::string legalized; // linalg after legalize-storage
  std::string emitted;   // after the emitter and expand-math: func, scf, vector, llvm
  std::string llvm;      // LLVM IR, optimized
  std::string assembly;
  int64_t instructions = 0; // of LLVM IR, optimized
};

} // namespace halftone::compiler
