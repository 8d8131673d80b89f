// Bit-exact rewrites of loops.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::compiler {

/// Simplifies every loop of a module, inner loops first, and returns true if anything changed.
///
/// - Pure ops whose operands are all captures move out of the loop.
/// - Unused slices and stacks are dropped, and so are carries that reach neither a result nor the condition. Equal ones
///   are merged.
/// - A carry that keeps its value becomes a capture, as do slices of a stack whose steps are all equal. A stack of
///   equal slices becomes a broadcast.
/// - An integer carry of a scan that grows by a loop-invariant value is computed from the index.
/// - Values without elements become constants.
/// - A scan without steps is replaced by its inits, and a scan of one step by its body.
/// - Ops that can compute all steps at once leave scans (LoopLifting.h).
///
/// A narrow float that no longer enters or leaves a loop is still rounded, by a cast to its own dtype.
bool simplifyLoops(mlir::ModuleOp module);

} // namespace halftone::compiler
