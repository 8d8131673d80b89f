// Reduces a failing module.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Probe.h"
#include "mlir/IR/OwningOpRef.h"

namespace halftone::tools {

/// The number of ops in the module, excluding the module, its functions and terminators.
int64_t countOps(mlir::ModuleOp module);

/// Reduces a failing module until no reduction preserves the failure. The result is valid and fails. The reduction is
/// deterministic for equal answers. If the probe has a fault, the module is left as reduced so far.
///
/// In each round it runs mlir-reduce's canonicalization pass and then every one of reductions(): in the first round on
/// all parts at once, in the next on halves, and so on down to single parts, so that most of a module is gone before
/// single ops are tried. A step is accepted if it makes the module smaller: in ops, then in constants, arguments and
/// results, then in text. It ends after a round on single parts without a change.
///
/// The reduction tree of mlir-reduce is not used: its variants have ops without operands, on which verifiers that
/// inspect regions would crash, and it keeps adjacent ops together, so a chain of ops is never reduced.
void reduce(mlir::OwningOpRef<mlir::ModuleOp> &module, const Probe &probe);

} // namespace halftone::tools
