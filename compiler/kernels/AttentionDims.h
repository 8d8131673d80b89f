// The dims of an attention kernel, in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::compiler {

/// A dim of extent 1 stays a dim. The heads of queries in a group share one head of keys and values. Depth is the length of
/// a key, width that of a value.
enum AttentionDim : int { batchDim, groupDim, headDim, queryDim, keyDim, depthDim, widthDim, attentionDims };

} // namespace halftone::compiler
