// The dims of an attention kernel, in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::compiler {

/// Each is there, of extent 1 if need be. The heads of a group share the keys and values of one head; depth is that of a
/// product of a query and a key, width that of a value.
enum AttentionDim : int { batchDim, groupDim, headDim, queryDim, keyDim, depthDim, widthDim, attentionDims };

} // namespace halftone::compiler
