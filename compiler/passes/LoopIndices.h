// Turns the index of a loop's step into a carry, since kernels read their operands from memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace halftone::compiler {

/// Adds a carry that counts the steps to each loop of `main` whose index has a use; users of the index read the carry
/// instead.
void carryIndices(mlir::func::FuncOp main);

} // namespace halftone::compiler
