// Rewrites of loops that change no bit.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::compiler {

/// Simplifies every loop of a module, inner ones first, and tells whether anything changed.
///
/// - Pure ops whose operands are all captures move in front of the loop.
/// - What nobody reads goes: slices, stacks, and carries that reach neither a result nor the condition. Equal ones become one.
/// - A carry that keeps its value, and slices of a stack whose steps are all equal, become captures; a stack of equal slices becomes
///   a broadcast.
/// - An integer carry of a scan that grows by an invariant number follows from the index.
/// - Values without elements are constants.
/// - A scan without steps is its inits, and a scan of one step is its body.
/// - Ops that can compute all steps at once leave scans (LoopLifting.h).
///
/// A narrow float that no longer enters or leaves a loop still rounds, by a cast to its own dtype.
bool simplifyLoops(mlir::ModuleOp module);

} // namespace halftone::compiler
