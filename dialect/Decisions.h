// Which values a decision depends on, and so have one rounding for all their readers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "llvm/ADT/SetVector.h"

namespace halftone::dialect {

/// Whether `op` decides by its operands: a small change of a float operand may change the result by a step. These are
/// is_finite, compare, arg_reduce, `reduce_all all_finite`, sign, floor, ceil, round_even, rem, and a cast from a float
/// to an integer or bool.
bool isDecision(mlir::Operation *op);

/// The values in `scope` (a function or kernel, regions included) that must round where they are made, in program
/// order: a decision depends on each, its dtype is a float narrower than 32 bits, and compiled code might compute it in
/// f32 and store it narrow. Then the decision and a reader of the stored value would see two roundings of one value.
/// Values that are in memory, that a rounding cast gives, or that only move or choose such values are not among them.
/// Linear in the number of ops.
llvm::SetVector<mlir::Value> valuesToRound(mlir::Operation *scope);

} // namespace halftone::dialect
