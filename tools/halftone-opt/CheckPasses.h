// --check-passes: interprets the module before and after every pass, and compares the results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/PassManager.h"

/// Adds to `passes` the check of each pass on modules. It interprets @main on random feeds and variables before and
/// after the pass, and compares the results bit for bit. After normalize, choose-templates and form-kernels, which may reorder sums, the
/// results must lie in the intervals of the module before. If a module has gradients, its checks begin after
/// differentiate. A difference is an error, and sets `*differed`.
void addPassChecks(mlir::PassManager &passes, bool *differed);
