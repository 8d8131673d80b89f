// Sums of contractions and reductions over the steps of a scan, as one op each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::compiler {

/// A float carry to which each step adds terms, and which nothing else in the body reads, is its init plus the sums of the terms
/// over the steps, if each term is a contraction, a `reduce sum` or a `scatter_add` along axis 0; terms may be widened, added,
/// reshaped, transposed, cut and joined. Each sum is one op on stacks of its operands, behind the scan. The order of the terms
/// changes, and narrow ones are added up in the dtype of the carry: rewrites of default numerics.
///
/// The new stacks of a scan take at most twice the memory of those that it has, and none holds stacks of an inner loop:
/// memory that was of one size would else grow with the steps.
void sumOverSteps(mlir::ModuleOp module);

} // namespace halftone::compiler
