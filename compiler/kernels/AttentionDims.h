// The dims of an attention kernel, in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::compiler {

/// A dim of extent 1 is kept. A group is the heads of queries that share one head of keys and values. `depthDim` is the
/// length of a key, `widthDim` that of a value.
enum AttentionDim : int { batchDim, groupDim, headDim, queryDim, keyDim, depthDim, widthDim, attentionDims };

} // namespace halftone::compiler
