// The parts of an `attention`, as ordinary ops, for its gradient, its lowering and its kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/AttentionConstants.h"
#include "dialect/ops/Expression.h"

namespace halftone::dialect {

/// The operands and attributes that an `attention` and its gradient share.
struct AttentionInputs {
  template <class Op>
  explicit AttentionInputs(Op op)
      : q(op.getQ()), k(op.getK()), v(op.getV()), bias(op.getBias()), mask(op.getMask()), key(op.getKey()),
        causal(op.getCausal()), scale(op.getScale().convertToDouble()), rate(op.getRate().convertToDouble()) {}

  /// The dtype of scores, weights and sums: f32 or f64.
  mlir::FloatType scoreType() const;
  /// The extents (b, n, t, s).
  llvm::SmallVector<int64_t, 4> scoreShape() const;

  mlir::Value q, k, v, bias, mask, key; // the last three may be null
  bool causal;
  double scale, rate;
};

/// The softmax of an `attention` before it is divided.
struct AttentionSoftmax {
  mlir::Value scores;         // (b, n, t, s)
  mlir::Value largest, total; // (b, n, t): of the scores of a row, and the sum of `raised`
  mlir::Value raised;         // (b, n, t, s): exp(scores - largest)
};

/// The slopes of an `attention_grad`, and the values that they are made of, each (b, n, t, s) but for `total`.
struct AttentionSlopes {
  mlir::Value scores, raised; // raised: exp(scores - lse)
  mlir::Value total;          // of each row of `raised`; null if no weight is divided by it
  mlir::Value kept;           // the weights, without the dropped ones
  mlir::Value slopes;         // the cotangents of `scores`: 0 where a key is masked
};

/// Creates, at the builder's insertion point, ops that compute parts of one `attention`. Scores and weights have the
/// shape (b, n, t, s) and the dtype of scores.
class AttentionParts {
public:
  AttentionParts(const AttentionInputs &inputs, mlir::OpBuilder &builder, mlir::Location loc);

  AttentionSoftmax softmax();
  /// The result `lse`.
  mlir::Value lse(const AttentionSoftmax &softmax);
  AttentionSlopes slopes(mlir::Value lse, mlir::Value byOut, mlir::Value delta);
  /// The results of an `attention_grad`. Those by k and v have the dtype `keySums`.
  llvm::SmallVector<mlir::Value, 3> gradients(const AttentionSlopes &made, mlir::Value byOut, mlir::Type keySums);
  /// The same, but each result by k or v has `parts` pieces: one for each part of the queries.
  llvm::SmallVector<mlir::Value, 3> gradientsInPieces(const AttentionSlopes &made, mlir::Value byOut, int64_t parts);

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
  /// `weights` by y (b, s, m, c), summed over s: (b, n, t, c), in the dtype of scores.
  mlir::Value sumsOverKeys(mlir::Value weights, mlir::Value y);
  /// `weights`, in y's dtype, by y (b, s, m, c), summed over s: (b, t, n, c), times `scale` and rounded to y's dtype.
  mlir::Value overKeys(mlir::Value weights, mlir::Value y, double scale);
  /// `weights`, in x's dtype, by x (b, t, n, c), summed over t and the heads that share one of k: (b, s, m, c), times
  /// `scale`, in the dtype `element`.
  mlir::Value overQueries(mlir::Value weights, mlir::Value x, double scale, mlir::Type element);

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
  /// Times `scale`, in the dtype `element`.
  mlir::Value contract(mlir::Value lhs, mlir::Value rhs, const Axes &axes, double scale, mlir::Type element);
  /// `count` indices of `axis`, from `begin` on.
  mlir::Value ofRun(mlir::Value value, int64_t axis, int64_t begin, int64_t count);
  /// `value`, weights or slopes, in the dtype of q.
  mlir::Value narrowed(mlir::Value value);

  AttentionInputs inputs;
  mlir::RankedTensorType scoreType;
  int64_t heads, groups; // n and m
};

/// How many pieces each gradient of `op` by k and v has, one for each part of the queries; 0 if these gradients are whole.
int64_t partsOfQueries(AttentionGradOp op);
/// The type of `parts` pieces of a gradient that has the type `whole`. The pieces have the dtype `sum`.
mlir::RankedTensorType typeOfPieces(mlir::Type whole, int64_t parts, mlir::Type sum);

/// The results of `op` as ordinary ops, created at the builder's insertion point.
llvm::SmallVector<mlir::Value, 3> expanded(AttentionGradOp op, mlir::OpBuilder &builder);

} // namespace halftone::dialect
