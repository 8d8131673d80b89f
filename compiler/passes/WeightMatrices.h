// Weights of more than two axes, as the matrices that contractions multiply by.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include <optional>

namespace halftone::compiler {

/// The axes of a contraction's right operand and the contracted ones of its left operand lie in such an order that a reshape
/// makes a matrix of each; `depth` and `columns` are the extents of the right one.
struct WeightMatrix {
  int64_t depth = 0, columns = 0;
  bool depthFirst = false; // the contracted axes of the right operand come before the others

  /// nullopt if the right operand is a matrix already, or for another order of axes, or with batch axes, or if elementwise
  /// work or a transpose behind the contraction would then need a kernel of its own.
  static std::optional<WeightMatrix> of(dialect::ContractOp op);
};

/// The same contraction of matrices, in the place of `op`. Elementwise work on the result, which joins the contraction's
/// kernel, is done in the new shape too; a reshape behind it gives the old one.
dialect::ContractOp multiplyByMatrix(dialect::ContractOp op, const WeightMatrix &matrix);

} // namespace halftone::compiler
