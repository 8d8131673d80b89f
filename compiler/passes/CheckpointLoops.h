// Checkpointing of long scans that the backward pass recomputes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::compiler {

/// Splits each long outermost scan with carries and `halftone.rematerialize` into a scan of inner scans of about the
/// square root of its length, each inner scan with its own number in `halftone.rematerialize`. Recomputing the whole
/// scan would keep the values of all steps at once. Recomputing one inner scan at a time keeps the carries between the
/// inner scans and the values of one of them. Results are bitwise equal.
void checkpointLoops(mlir::ModuleOp module);

} // namespace halftone::compiler
