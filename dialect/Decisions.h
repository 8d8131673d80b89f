// Which values a decision (ComputeOpInterface::isDecision) depends on, and so have one rounding for all their readers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "llvm/ADT/SetVector.h"

namespace halftone::dialect {

/// The values in `scope` (a function or kernel, regions included) that must be rounded where they are made, in program
/// order. Such a value has a float dtype narrower than 32 bits, a live decision depends on it, and compiled code might
/// compute it in f32 and store it rounded: then the decision and a reader of the stored value would see two roundings.
/// Not among them: values in memory, results of rounding casts, and results of ops that only move or choose such
/// values. The cost is linear in the number of ops.
llvm::SetVector<mlir::Value> valuesToRound(mlir::Operation *scope);

} // namespace halftone::dialect
