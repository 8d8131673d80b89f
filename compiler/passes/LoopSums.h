// Sums of contractions and reductions over the steps of a scan, as one op each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::compiler {

/// Replaces a carry of f32 or f64 to which each step adds terms, and which nothing else in the body reads, by its init
/// plus the sums of the terms over the steps. Each sum is one op after the scan, on stacks of the term's operands.
/// Terms are contractions, gradients of convolutions with respect to their kernels, `reduce sum`s and `scatter_add`s
/// along axis 0; they may be widened, added, reshaped, transposed, sliced and concatenated. The order of the terms
/// changes, and narrow terms are accumulated in the dtype of the carry, so this is a rewrite of default numerics.
///
/// The new stacks of a scan take at most twice the memory of its existing stacks. None contains stacks of an inner
/// loop, since memory of a fixed size would then grow with the number of steps.
void sumOverSteps(mlir::ModuleOp module);

} // namespace halftone::compiler
