// Attention.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_ATTENTION
#define HALFTONE_OPS_ATTENTION
include "Types.td"

def Halftone_AttentionOp : Halftone_PureOp<"attention", [AttrSizedOperandSegments, Halftone_Inexact,
    DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["mayLift", "lift", "leavesLoops"]>]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    q has the axes (b, t, n, h), k (b, s, m, h), v (b, s, m, e) and `out` (b, t, n, e), all of the same dtype. n is a
    multiple of m: each head of k and v serves n / m consecutive heads of q. For each (b, n, t), over s:

    - the scores are the products of q and k, summed over h, times `scale`, plus `bias`. If `mask` is false, or with
    `causal` if s > t, the score is -0.7 * 3.38953e38. A fully masked row therefore has equal weights.
    - the weights are the softmax of the scores. With `rate` above 0 a weight is dropped if the upper 24 bits of its
    word of `random_bits` of `key`, at the linear index of (b, n, t, s), are below `rate` * 2^24; the others are divided
    by 1 - `rate`.
    - `out` is the sum of the weights times v; `lse` (b, n, t) is the logarithm of the sum of the exponentials of the scores.

    Each axis of `bias` (a float) and `mask` has the extent of (b, n, t, s), or 1. Scores, weights and `lse` are f32, or f64 if q
    is; products accumulate in that dtype, and `out` rounds once. Weights may be rounded to the dtype of v before the
    multiplication; in strict numerics they always are. Without keys (s = 0) `out` is 0. If keys with weight 0 hold an
    infinity or NaN, results may differ from these sums. `mask` and `key` have no gradient.
    Example:
    ```mlir
    %out, %lse = halftone.attention %q, %k, %v mask %mask {causal, scale = 0.125 : f64}
        : (tensor<2x8x4x64xf16>, tensor<2x16x2x64xf16>, tensor<2x16x2x32xf16>, tensor<2x1x1x16xi1>) -> (tensor<2x8x4x32xf16>, tensor<2x4x8xf32>)
    ```
  }];
  let arguments = (ins Halftone_FloatTensor:$q, Halftone_FloatTensor:$k, Halftone_FloatTensor:$v,
                       Optional<Halftone_FloatTensor>:$bias, Optional<Halftone_BoolTensor>:$mask,
                       Optional<RankedTensorOf<[UI32]>>:$key, UnitAttr:$causal, F64Attr:$scale,
                       DefaultValuedAttr<F64Attr, "0.0">:$rate);
  let results = (outs Halftone_FloatTensor:$out, StaticShapeTensorOf<[F32, F64]>:$lse);
  let assemblyFormat = "$q `,` $k `,` $v (`bias` $bias^)? (`mask` $mask^)? (`key` $key^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The dtype of scores, weights and sums: f32 or f64.
    ::mlir::FloatType getScoreType();
    /// The extents (b, n, t, s).
    ::llvm::SmallVector<int64_t, 4> getScoreShape();
  }];
}

def Halftone_AttentionGradOp : Halftone_PureOp<"attention_grad", [AttrSizedOperandSegments, Halftone_Inexact]> {
  let summary = "Gradient of attention with respect to q, k and v";
  let description = [{
    The operands and attributes up to `key` are those of an `attention`, and `lse` is its result. `by_out` (b, t, n, e)
    is the cotangent of its `out`; `delta` (b, n, t), in the dtype of scores, is the sum over e of `by_out` times `out`,
    minus the cotangent of `lse`. The weights are exp(score - `lse`); if there is a bias or a mask, they are divided by
    their sum in rows with |`lse`| >= 4096.

    - `by_v` is the sum of the weights, after dropout, times `by_out`, over t and the heads that share a head of v.
    - the gradient of a score is its weight times (the product of `by_out` and v over e, with the dropout of the weight,
    minus `delta`); 0 for a masked key.
    - `by_q` is the sum of the score gradients times k over s, `by_k` the sum of the score gradients times q over t and
    the heads that share a head of k, both times `scale`.

    Sums are in the dtype of scores. Weights and score gradients may be rounded to the dtype of q before the
    multiplication; in strict numerics they always are. If keys with weight 0 hold an infinity or NaN, results may
    differ from these sums.

    `by_k` and `by_v` may both be partial results, in the dtype of scores and with a leading axis of extent p: the
    queries are split into p parts of ceil(t / p) queries, of which the last may have fewer or none. Each partial result
    sums over one part; their sum is the gradient.
    Example:
    ```mlir
    %by_q, %by_k, %by_v = halftone.attention_grad %q, %k, %v lse %lse, %by_out, %delta {causal, scale = 0.125 : f64}
        : (tensor<2x8x4x64xf16>, tensor<2x16x2x64xf16>, tensor<2x16x2x32xf16>, tensor<2x4x8xf32>, tensor<2x8x4x32xf16>, tensor<2x4x8xf32>)
        -> (tensor<2x8x4x64xf16>, tensor<2x16x2x64xf16>, tensor<2x16x2x32xf16>)
    ```
  }];
  let arguments = (ins Halftone_FloatTensor:$q, Halftone_FloatTensor:$k, Halftone_FloatTensor:$v,
                       Optional<Halftone_FloatTensor>:$bias, Optional<Halftone_BoolTensor>:$mask,
                       Optional<RankedTensorOf<[UI32]>>:$key, StaticShapeTensorOf<[F32, F64]>:$lse,
                       Halftone_FloatTensor:$by_out, StaticShapeTensorOf<[F32, F64]>:$delta, UnitAttr:$causal,
                       F64Attr:$scale, DefaultValuedAttr<F64Attr, "0.0">:$rate);
  let results = (outs Halftone_FloatTensor:$by_q, Halftone_FloatTensor:$by_k, Halftone_FloatTensor:$by_v);
  let assemblyFormat = "$q `,` $k `,` $v (`bias` $bias^)? (`mask` $mask^)? (`key` $key^)? `lse` $lse `,` $by_out `,` $delta "
                       "attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// As for AttentionOp.
    ::mlir::FloatType getScoreType();
    ::llvm::SmallVector<int64_t, 4> getScoreShape();
  }];
}

#endif
