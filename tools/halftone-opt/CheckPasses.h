// --check-passes: checks that each pass keeps the contract of modules and the results of @main.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/PassManager.h"

/// Adds to `passes` the check of each pass, on modules and below. The pass must keep the contract of the module
/// (PassContract.h) and the results of @main, which is interpreted before and after it on random feeds and variables
/// (Interpretations.h): bit for bit, but after normalize, choose-templates and form-kernels, which may reorder sums,
/// and while the module has gradients the results must lie in the intervals of the module before. A module whose @main
/// cannot be interpreted is refused before the first pass; one without @main gets a warning. A difference is an error
/// that names the pass, and sets `*differed`; the passes after it are checked on.
///
/// Passes run on one thread from here on, since the check of a pass reads the whole module.
void addPassChecks(mlir::PassManager &passes, bool *differed);
