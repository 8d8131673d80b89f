// Sums of contractions and reductions over the steps of a scan, as one op each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::compiler {

/// A carry of f32 or f64 to which each step adds terms, and which nothing else in the body reads, is its init plus the sums of the terms
/// over the steps. Each sum is one op on stacks of the term's operands, behind the scan: terms are contractions, gradients of
/// convolutions by their kernels, `reduce sum`s and `scatter_add`s along axis 0, widened, added, reshaped, transposed, cut and joined.
/// The order of the terms changes, and narrow ones are added up in the dtype of the carry: rewrites of default numerics.
///
/// The new stacks of a scan take at most twice the memory of those that it has, and none holds stacks of an inner loop, since memory
/// that was of one size would else grow with the steps.
void sumOverSteps(mlir::ModuleOp module);

} // namespace halftone::compiler
