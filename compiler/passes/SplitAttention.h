// The gradient of attention of few heads, in parts of the queries.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Blocking.h"
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// If the target has a kernel for `op` (Blocking::attentionTile), and there are few heads of keys with many scores each, replaces `op` by an op that gives
/// pieces of the gradients by k and v, one for each part of the queries, and by reductions that add the pieces up. So several
/// blocks share a head. The number of parts depends on extents alone.
void splitAttention(dialect::AttentionGradOp op, const Blocking &blocking);

} // namespace halftone::compiler
