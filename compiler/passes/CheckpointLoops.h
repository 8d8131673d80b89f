// Long loops whose values the backward pass computes again, in pieces.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::compiler {

/// Cuts each long scan with carries that has `halftone.rematerialize`, and stands in no other loop, into pieces of about the root of its
/// length: a scan over scans, each of which has a number of its own. A backward pass that computed the whole loop again would need
/// the memory of all of its steps at once; one that computes piece by piece needs that of the carries between pieces, and of one
/// piece. The results have the same bits.
void checkpointLoops(mlir::ModuleOp module);

} // namespace halftone::compiler
