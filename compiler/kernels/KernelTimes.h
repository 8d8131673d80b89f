// Where the times of making a kernel's code go.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Support/Timing.h"

namespace halftone::compiler {

struct KernelTimes {
  mlir::TimingScope *scope = nullptr; // gets a row for each phase; null: no times
  bool byPass = false;                // the phases of LLVM get a row for each of its passes

  /// Counts until it ends.
  mlir::TimingScope phase(llvm::StringRef name) const { return scope ? scope->nest(name) : mlir::TimingScope(); }
};

} // namespace halftone::compiler
