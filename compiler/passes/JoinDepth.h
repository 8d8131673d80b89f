// Contracted axes that an operand has in another order than the other one, or apart, as one axis of both.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Lowerings.h"
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// Transposes an operand of `op`, so that the contracted axes are neighbours in the same order in both, if the target asks for
/// that (Lowerings::joinsDepth).
void joinDepth(dialect::ContractOp op, const Lowerings &lowerings);

} // namespace halftone::compiler
