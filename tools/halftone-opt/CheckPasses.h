// --check-passes: the interpreter's word before and after every pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/PassManager.h"

/// Adds to `passes` the check of each pass on modules: @main is interpreted on random feeds and variables before and after
/// it. The results must be the same bits, but after choose-templates and form-kernels, which may reorder sums: there they
/// must be legal for the module before. A module that still has gradients is checked from differentiate on. What differs is an error, and sets
/// `*differed`.
void addPassChecks(mlir::PassManager &passes, bool *differed);
