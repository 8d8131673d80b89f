// Makes a module small that fails.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Probe.h"
#include "mlir/IR/OwningOpRef.h"

namespace halftone::tools {

/// The ops of the module but itself, its functions and terminators.
int64_t countOps(mlir::ModuleOp module);

/// Reduces a module that fails until no reduction keeps the failure. The result is valid and fails. The same module and
/// answers give the same result. If the probe has a fault, the module is as small as it was until then.
///
/// Round after round, it runs mlir-reduce's pass of canonicalization and then each of reductions(): in the first round at all parts at once, in the next at halves of them, and so on to single parts,
/// so that most of a module is gone before single ops are tried. A step is taken if it makes the module smaller: in ops, then
/// in constants, arguments and results, and text. The rounds end when one on single parts changes nothing.
///
/// The reduction tree of mlir-reduce is no part of it: its variants have ops without operands, at which verifiers that
/// look into regions would crash, and it keeps together what stands together, so a chain of ops stays as it is.
void reduce(mlir::OwningOpRef<mlir::ModuleOp> &module, const Probe &probe);

} // namespace halftone::tools
