// The leading dims of a recurrence kernel; the dims of columns and of K follow.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::compiler {

enum RecurrenceDim : int { stepDim, rowDim, recurrenceOuterDims };

/// The lookup arguments of every recurrence kernel: the index of the first step, and the distance from one step to the
/// next.
enum RecurrenceArgument : int { firstArgument, strideArgument, recurrenceArguments };

} // namespace halftone::compiler
