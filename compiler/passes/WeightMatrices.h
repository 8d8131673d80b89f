// Rewrites weights of rank above 2 as the matrices that contractions multiply by.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include <optional>

namespace halftone::compiler {

/// A contraction for which a reshape can turn the right operand into a matrix and merge the contracted axes of the left
/// operand into one. `depth` and `columns` are the extents of the matrix.
struct WeightMatrix {
  int64_t depth = 0, columns = 0;
  bool depthFirst = false; // the contracted axes of the right operand precede the others

  /// Returns nullopt if the right operand is a matrix already, if the order of the axes is another, if there are batch
  /// axes, or if elementwise ops or a transpose after the contraction would then need their own kernel.
  static std::optional<WeightMatrix> of(dialect::ContractOp op);
};

/// Replaces `op` by the same contraction of matrices. Elementwise ops on the result, which join the contraction's
/// kernel, are computed in the new shape too; a reshape after them restores the old shape.
dialect::ContractOp multiplyByMatrix(dialect::ContractOp op, const WeightMatrix &matrix);

} // namespace halftone::compiler
