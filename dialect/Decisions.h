// Values that a decision (ComputeOpInterface::isDecision) depends on, which must have a single rounding for all users.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "llvm/ADT/SetVector.h"

namespace halftone::dialect {

/// The values in `scope` (a function or kernel, including regions) that must be rounded where they are defined, in
/// program order. Such a value has a float dtype narrower than 32 bits, a live decision depends on it, and compiled
/// code might compute it in f32 and store it rounded: the decision and a user of the stored value would then see
/// different roundings. Excluded are values in memory, results of rounding casts, and results of ops that only move or
/// select such values. Linear in the number of ops.
llvm::SetVector<mlir::Value> valuesToRound(mlir::Operation *scope);

} // namespace halftone::dialect
