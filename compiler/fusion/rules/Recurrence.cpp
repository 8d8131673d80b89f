// The rule for loops that run in one kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/RecurrenceBody.h"
#include "compiler/fusion/rules/Rules.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

bool isRecurrence(Operation *op, const Blocking &blocking, Numerics numerics) {
  auto scan = dyn_cast_or_null<ScanOp>(op);
  const auto body = scan && !numerics.formsAlone() ? readRecurrence(scan) : std::nullopt;
  return body && blocking.recurrenceRows(body->traits);
}

/// Starts a group with a loop whose steps compute the rows of a batch independently.
RuleResult startRecurrence(FusionState &state, Operation *op) {
  if (!isRecurrence(op, state.blocking, state.numerics))
    return RuleResult::declined;
  state.decline(op, "a loop reads its operands from memory");
  return startGroup(state, op);
}

} // namespace halftone::compiler
