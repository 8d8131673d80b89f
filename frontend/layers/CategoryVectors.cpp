// One-hot vectors, their maxima and sums.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/CategoryVectors.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Ops.h"

namespace halftone::detail {

Value categoryVectors(const Value &integers, const VectorKind &kind, const Value &weights) {
  if (kind.mode == OutputMode::int_)
    return asDtype(integers, kind.dtype, "categories");
  Value x = asDtype(integers, integers.dtype() == DType::int64 ? DType::int64 : DType::int32, "categories");
  if (x.rank() == 0)
    x = ops::expand_dims(x, 0);
  if (kind.mode == OutputMode::one_hot && x.rank() > 1 && x.shape()[-1] == 1)
    x = ops::squeeze(x, -1);
  Value vectors = ops::one_hot(x, kind.depth, kind.dtype);
  if (kind.mode == OutputMode::one_hot)
    return vectors;
  const int64_t axis = x.rank() > 1 ? 1 : 0;
  if (kind.mode == OutputMode::multi_hot)
    return x.shape()[axis] == 0 ? ops::sum(vectors, axis) : ops::max(vectors, axis); // a maximum needs an element
  if (weights.defined())
    vectors = vectors * asDtype(ops::reshape(weights, ops::expand_dims(x, -1).shape()), kind.dtype, "categories");
  return ops::sum(vectors, axis);
}

} // namespace halftone::detail
