// --check-passes: the interpreter runs the module before and after every pass, and the results are compared.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/PassManager.h"

/// Adds to `passes` the check of each pass on modules: the interpreter runs @main on random feeds and variables before
/// and after the pass. The results must be the same bits. After normalize and form-kernels, which may reorder
/// sums, they must be legal for the module before. A module that still has gradients is checked from differentiate on.
/// A difference is an error, and sets `*differed`.
void addPassChecks(mlir::PassManager &passes, bool *differed);
