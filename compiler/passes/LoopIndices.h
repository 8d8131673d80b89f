// The index of a loop's step as a carry, since kernels read their operands from memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace halftone::compiler {

/// Gives each loop of `main` whose index has a use a carry that counts the steps, as the index does; readers of the index
/// read the carry.
void carryIndices(mlir::func::FuncOp main);

} // namespace halftone::compiler
