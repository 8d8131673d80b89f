// The parts of an `attention`, as ordinary ops: what its gradient and its lowering share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/ops/Expression.h"

namespace halftone::dialect {

/// Creates, at the builder's insertion point, ops that compute parts of one `attention`. Scores and weights have the
/// shape (b, n, t, s) and the dtype of scores.
class AttentionParts {
public:
  AttentionParts(AttentionOp op, mlir::OpBuilder &builder);

  /// The products of q and k, scaled, with bias, and masked.
  mlir::Value scores();
  /// Which keys each query sees; null if each sees all.
  mlir::Value allowed();
  /// The weights without the dropped ones, the others grown; `weights` itself if the op drops none.
  mlir::Value dropped(mlir::Value weights);
  /// `row` (b, n, t) for each key.
  mlir::Value ofRows(mlir::Value row) { return e.broadcast(row, scoreType, {0, 1, 2}); }

  /// x (b, t, n, c) by y (b, s, m, c), summed over c: (b, n, t, s).
  mlir::Value products(mlir::Value x, mlir::Value y);
  /// `weights`, in y's dtype, by y (b, s, m, c), summed over s: (b, t, n, c), times `scale` and rounded to y's dtype.
  mlir::Value overKeys(mlir::Value weights, mlir::Value y, double scale);
  /// `weights`, in x's dtype, by x (b, t, n, c), summed over t and the heads that share one of k: (b, s, m, c), times
  /// `scale` and rounded to x's dtype.
  mlir::Value overQueries(mlir::Value weights, mlir::Value x, double scale);

  Expression e;

private:
  /// `value`, each of whose axes has the extent of (b, n, t, s) or 1, in the shape of scores.
  mlir::Value repeated(mlir::Value value);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// (b, x, n, c) as (b, x, m, n / m, c), and (b, n, t, s) as (b, m, n / m, t, s).
  mlir::Value grouped(mlir::Value value, int64_t axis);
  struct Axes {
    llvm::SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  };
  mlir::Value contract(mlir::Value lhs, mlir::Value rhs, const Axes &axes, mlir::Type element);
  /// Times `scale`, in the operands' dtype.
  mlir::Value contract(mlir::Value lhs, mlir::Value rhs, const Axes &axes, double scale);

  AttentionOp op;
  mlir::RankedTensorType scoreType;
  int64_t heads, groups; // n and m
};

} // namespace halftone::dialect
