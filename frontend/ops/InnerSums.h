// Sums inside of operations: no sum overflows unless the operation's result does.
// SPDX-License-Identifier: Apache-2.0
//
// An operation whose result depends on a sum computes the sum in a dtype that holds it, and rounds the result once:
// - Sums of unbounded elements, such as those of means, variances and norms, use atLeastFloat32() elements
//   (frontend/graph/Promotion.h). Squares, which may overflow float32 too, use elements scaled by a power of two.
// - Sums of exponentials of at most 1, as in softmax and its variants, stay in the operand's dtype, as in Keras, while
//   the dtype holds the number of terms, and use float32 beyond that: from 65,520 terms on in float16.
#pragma once
#include "halftone/Ops.h"

namespace halftone::detail {

/// `x` minus its maximum over `axes`, as an operand of exp() whose results are summed over these axes: in the dtype of
/// `x` if the dtype holds the number of terms, otherwise in float32. The maximum is a constant for gradients.
Value belowLargest(const Value &x, const Axes &axes);
/// `x` divided by its sum over `axes`, in the dtype of `x`.
Value sharesOf(const Value &x, const Axes &axes);
/// The Euclidean norms of `x` over `axes`, which are kept with extent 1. Both are in float32 at least.
struct ScaledNorm {
  Value x;       // the operand times a power of two, which is 1 unless squares may overflow
  Value squares; // the sum of the squares of these elements
  Value scale;   // the power of two, of the shape of `squares`; undefined if it is 1
};
ScaledNorm scaledNorm(const Value &x, const Axes &axes);
/// `x` divided by its norm over `axes`, with the factor limited to `most`; in float32 at least.
Value unitAlong(const Value &x, const Axes &axes, double most);

} // namespace halftone::detail
