// Long sums of few products' tiles, in parts that blocks share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Blocking.h"
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// The traits of the product that a contraction is, as far as they are known before there are kernels.
MatmulTraits matmulTraits(dialect::ContractOp op);

/// Whether each axis follows the one before it; false if there are none.
bool areNeighbours(llvm::ArrayRef<int64_t> axes);

/// Makes the sums of a float contraction in as many parts of K as `blocking` asks for (Blocking::depthParts), and adds
/// the parts up in the accumulator's type: the result is rounded once, but the order of the sum is another. Returns the
/// contraction that stands then; `op` itself, unchanged, if it stays whole. It stays whole if its contracted axes are not
/// neighbours in both operands, and if an operand is packed or would have to be stored.
dialect::ContractOp splitDepth(dialect::ContractOp op, const Blocking &blocking);

} // namespace halftone::compiler
