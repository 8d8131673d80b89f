// How messages call a pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/Pass.h"

/// The name of the pass on the command line, or of its class if it has none there.
inline llvm::StringRef nameOf(mlir::Pass *pass) {
  return pass->getArgument().empty() ? pass->getName() : pass->getArgument();
}

/// Whether the pass is MLIR's adaptor, which runs the passes of a nested pipeline and does nothing itself.
inline bool runsOthers(mlir::Pass *pass) { return pass->getName().ends_with("OpToOpPassAdaptor"); }
