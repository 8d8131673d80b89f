// Splits K of products with few tiles into parts, which blocks share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Blocking.h"
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// The traits of a contraction's product, as far as they are known before kernels are formed.
MatmulTraits matmulTraits(dialect::ContractOp op);

/// Returns true if each axis follows the previous one; false if there are none.
bool areNeighbours(llvm::ArrayRef<int64_t> axes);

/// Splits the sums of a float contraction into the number of parts of K that `blocking` asks for
/// (Blocking::depthParts), and adds the parts up in the accumulator's type. The result is rounded once, but the order
/// of the sum changes. Returns the new contraction, or `op` itself, unchanged, if it is not split. A contraction is not
/// split if its contracted axes are not adjacent in both operands, or if an operand is packed or would have to be
/// stored.
dialect::ContractOp splitDepth(dialect::ContractOp op, const Blocking &blocking);

} // namespace halftone::compiler
