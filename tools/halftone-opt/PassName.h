// Names of passes in messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/Pass.h"

/// The command-line name of the pass, or the name of its class if it has none.
inline llvm::StringRef nameOf(mlir::Pass *pass) {
  return pass->getArgument().empty() ? pass->getName() : pass->getArgument();
}

/// Returns true if the pass is MLIR's adaptor, which only runs the passes of a nested pipeline.
inline bool runsOthers(mlir::Pass *pass) { return pass->getName().ends_with("OpToOpPassAdaptor"); }
