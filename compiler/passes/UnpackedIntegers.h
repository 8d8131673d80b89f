// Packed integers of a weight that are unpacked by shifts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace halftone::compiler {

/// Returns true if `value` is unpacked by shifts from packed integers.
bool isUnpacked(mlir::Value value);

/// Moves a cast of unpacked integers below a reshape or a slice that is its only user. A product then reads the stored
/// integers through the cast alone, and widens them as it reads.
void castUnpackedLast(mlir::func::FuncOp main);

} // namespace halftone::compiler
