// Decomposition of `attention` into ordinary ops, for its gradient, its lowering and its kernel.
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

/// The softmax of an `attention` before normalization.
struct AttentionSoftmax {
  mlir::Value scores;         // (b, n, t, s)
  mlir::Value largest, total; // (b, n, t): the row maximum of `scores`, and the row sum of `raised`
  mlir::Value raised;         // (b, n, t, s): exp(scores - largest)
};

/// The score gradients of an `attention_grad` and the values from which they are computed, each (b, n, t, s) except
/// `total`.
struct AttentionScoreGradients {
  mlir::Value scores, raised; // raised: exp(scores - lse)
  mlir::Value total;          // row sums of `raised`; null if no weight is divided by them
  mlir::Value kept;           // the weights after dropout
  mlir::Value scoreGradients; // the gradients of `scores`: 0 where a key is masked
};

/// Creates ops that compute parts of an `attention`, at the builder's insertion point. Scores and weights have the
/// shape (b, n, t, s) and the dtype of scores.
class AttentionParts {
public:
  AttentionParts(const AttentionInputs &inputs, mlir::OpBuilder &builder, mlir::Location loc);

  AttentionSoftmax softmax();
  /// The result `lse`.
  mlir::Value lse(const AttentionSoftmax &softmax);
  AttentionScoreGradients scoreGradients(mlir::Value lse, mlir::Value byOut, mlir::Value delta);
  /// The results of an `attention_grad`. The gradients of k and v have the dtype `keySums`.
  llvm::SmallVector<mlir::Value, 3> gradients(const AttentionScoreGradients &values, mlir::Value byOut,
                                              mlir::Type keySums);
  /// Like gradients(), but each gradient of k or v consists of `parts` partial results, one per part of the queries.
  llvm::SmallVector<mlir::Value, 3> gradientsInParts(const AttentionScoreGradients &values, mlir::Value byOut,
                                                     int64_t parts);

  /// The scaled products of q and k, with bias and masking applied.
  mlir::Value scores();
  /// The mask of keys that each query may attend to; null if every query attends to all keys.
  mlir::Value allowed();
  /// The weights after dropout, with the kept ones scaled up; `weights` itself if the op has no dropout.
  mlir::Value dropped(mlir::Value weights);
  /// Broadcasts `row` (b, n, t) over the keys.
  mlir::Value ofRows(mlir::Value row) { return e.broadcast(row, scoreType, {0, 1, 2}); }

  /// Contracts x (b, t, n, c) with y (b, s, m, c) over c: (b, n, t, s).
  mlir::Value products(mlir::Value x, mlir::Value y);
  /// Contracts `weights` with y (b, s, m, c) over s: (b, n, t, c), in the dtype of scores.
  mlir::Value sumsOverKeys(mlir::Value weights, mlir::Value y);
  /// Contracts `weights`, in y's dtype, with y (b, s, m, c) over s: (b, t, n, c), times `scale` and rounded to y's
  /// dtype.
  mlir::Value overKeys(mlir::Value weights, mlir::Value y, double scale);
  /// Contracts `weights`, in x's dtype, with x (b, t, n, c) over t and the query heads that share a key head: (b, s, m,
  /// c), times `scale`, in the dtype `element`.
  mlir::Value overQueries(mlir::Value weights, mlir::Value x, double scale, mlir::Type element);

  Expression e;

private:
  /// Broadcasts `value`, each of whose axes has the extent of (b, n, t, s) or 1, to the shape of scores.
  mlir::Value repeated(mlir::Value value);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Reshapes (b, x, n, c) to (b, x, m, n / m, c), and (b, n, t, s) to (b, m, n / m, t, s).
  mlir::Value grouped(mlir::Value value, int64_t axis);
  struct Axes {
    llvm::SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  };
  mlir::Value contract(mlir::Value lhs, mlir::Value rhs, const Axes &axes, mlir::Type element);
  /// The contraction times `scale`, in the dtype `element`.
  mlir::Value contract(mlir::Value lhs, mlir::Value rhs, const Axes &axes, double scale, mlir::Type element);
  /// Slices `value` to the indices [begin, begin + count) of `axis`.
  mlir::Value ofRun(mlir::Value value, int64_t axis, int64_t begin, int64_t count);
  /// Casts `value`, weights or score gradients, to the dtype of q.
  mlir::Value narrowed(mlir::Value value);

  AttentionInputs inputs;
  mlir::RankedTensorType scoreType;
  int64_t heads, groups; // n and m
};

/// The number of partial results of each gradient of `op` with respect to k and v, one per part of the queries; 0 if
/// these gradients are computed whole.
int64_t partsOfQueries(AttentionGradOp op);
/// The type of `parts` partial results of a gradient of type `whole`. Their dtype is `sum`.
mlir::RankedTensorType typeOfPartialResults(mlir::Type whole, int64_t parts, mlir::Type sum);

/// Expands `op` into ordinary ops at the builder's insertion point, and returns its results.
llvm::SmallVector<mlir::Value, 3> expanded(AttentionGradOp op, mlir::OpBuilder &builder);

} // namespace halftone::dialect
