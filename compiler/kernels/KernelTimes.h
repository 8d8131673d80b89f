// Timing of the phases of kernel code generation.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Support/Timing.h"

namespace halftone::compiler {

struct KernelTimes {
  mlir::TimingScope *scope = nullptr; // gets a row for each phase; null: not timed
  bool byPass = false;                // the LLVM phases get a row for each LLVM pass

  /// Times a phase until the returned scope is destroyed.
  mlir::TimingScope phase(llvm::StringRef name) const { return scope ? scope->nest(name) : mlir::TimingScope(); }
};

} // namespace halftone::compiler
