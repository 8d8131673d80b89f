// Makes the contracted axes adjacent and in the same order in both operands of a contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Lowerings.h"
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// Transposes an operand of `op` so that the contracted axes are adjacent and in the same order in both operands, if
/// the target asks for it (Lowerings::joinsDepth).
void joinDepth(dialect::ContractOp op, const Lowerings &lowerings);

} // namespace halftone::compiler
