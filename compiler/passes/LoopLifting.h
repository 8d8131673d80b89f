// Moves ops that can compute all steps at once out of scans.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// Lifts ops of a scan's body (`LiftOpInterface`): ops that depend on no carry are computed before the scan, for all
/// steps at once; ops on which no carry depends are computed after it. Bit-exact.
///
/// An op that leaves loops (`leavesLoops`) is lifted if it has a loop-invariant operand, or if lifting needs no larger
/// stacks. After the scan, only a contraction or convolution may need larger stacks. Ops that produce or read the
/// stacks of a scan in the body stay. Before the scan, ops that produce a stack, the keys of draws, and the producers
/// of lifted ops are lifted too, as are other ops as long as the slices that the body reads do not grow. After the
/// scan, users of lifted ops are lifted too.
///
/// Returns the scan, which is a new op if anything moved, or null if nothing did. Dead ops in the body are left to
/// other rewrites.
dialect::ScanOp liftInFront(dialect::ScanOp scan);
dialect::ScanOp liftAfter(dialect::ScanOp scan);

} // namespace halftone::compiler
