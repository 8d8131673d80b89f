// --check-passes: checks that each pass preserves the module's contract and the results of @main.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/PassManager.h"

/// Adds to `passes` a check of every pass on modules and their nested ops. A pass must preserve the module's contract
/// (PassContract.h) and the results of @main, which is interpreted before and after it on random feeds and variables
/// (Interpretations.h). Results must be equal bit for bit, except after update-rows, normalize, choose-layouts and
/// form-kernels, which may reorder sums, and while the module has gradients: then they must lie within the intervals of
/// the previous module. A module whose @main cannot be interpreted is rejected before the first pass; a module without
/// @main gets a warning. A difference is an error that names the pass, and sets `*differed`; the following passes are
/// still checked.
///
/// Disables multithreading, since the check of a pass reads the whole module.
void addPassChecks(mlir::PassManager &passes, bool *differed);
