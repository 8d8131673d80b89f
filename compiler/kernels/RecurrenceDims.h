// The leading dims of a recurrence kernel; behind them come the dims of columns and of depths.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::compiler {

enum RecurrenceDim : int { stepDim, rowDim, recurrenceOuterDims };

/// The lookup arguments that each recurrence kernel has: the index of the first step, and how far it is from one step to the next.
enum RecurrenceNumber : int { firstNumber, strideNumber, recurrenceNumbers };

} // namespace halftone::compiler
