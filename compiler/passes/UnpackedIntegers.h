// Integers that share bytes in a weight, taken apart by shifts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace halftone::compiler {

/// Whether integers that share bytes were taken apart by shifts to make `value`.
bool isUnpacked(mlir::Value value);

/// If a reshape or a slice alone reads a cast of unpacked integers, the cast moves behind it. A product then reads the kept
/// integers through the cast alone, and widens them as it reads.
void castUnpackedLast(mlir::func::FuncOp main);

} // namespace halftone::compiler
