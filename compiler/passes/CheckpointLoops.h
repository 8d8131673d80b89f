// Checkpointing of long scans that the backward pass recomputes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::compiler {

/// Splits each long scan with carries and `halftone.rematerialize` that no other loop contains into a scan of scans of about
/// the square root of its length, each with its own number in `halftone.rematerialize`. Recomputing the whole scan would
/// keep the values of all steps at once; recomputing one inner scan at a time keeps the carries between them and the values
/// of one. Results are bitwise equal.
void checkpointLoops(mlir::ModuleOp module);

} // namespace halftone::compiler
