// Splits the gradient of attention with few heads along the queries.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Blocking.h"
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// If the target has a kernel for `op` (Blocking::attentionTile), and there are few heads of keys with many scores
/// each, replaces `op` by an op that gives partial results of the gradients with respect to k and v, one per part of
/// the queries, and by reductions that add them up. Several blocks then share a head. The number of parts depends on
/// the extents alone.
void splitAttention(dialect::AttentionGradOp op, const Blocking &blocking);

} // namespace halftone::compiler
