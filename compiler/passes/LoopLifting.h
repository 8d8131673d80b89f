// Moves ops out of scans that can compute all steps at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// Lifts ops of a scan's body (`LiftOpInterface`): those that wait for no carry are computed in front of the scan, for all steps at once,
/// and those for which no carry waits behind it. No bit of any result changes.
///
/// An op that leaves loops (`leavesLoops`) is lifted if it has an operand that is the same in all steps, or needs no larger stacks;
/// behind the scan, only a contraction or convolution may need larger ones. What gives or reads the stacks of a scan in the body stays.
/// In front of the scan, what gives a stack, the keys of draws and what such ops read are lifted with them; so are other ops as long as
/// the slices that the body reads do not grow. Behind the scan, what reads lifted ops is lifted too.
///
/// Returns the scan, which is another op if anything moved, or null if nothing did. What the body computes in vain stays for other
/// rewrites.
dialect::ScanOp liftInFront(dialect::ScanOp scan);
dialect::ScanOp liftBehind(dialect::ScanOp scan);

} // namespace halftone::compiler
