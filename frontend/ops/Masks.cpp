// Masks attached to Values, and masked softmax.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/Masks.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/InnerSums.h"

namespace halftone::detail {

Value maskOf(const Value &x) { return x.defined() ? x.node()->mask : Value(); }

Value asMask(const Value &mask) { return mask.defined() ? asDtype(mask, DType::bool_, "mask") : mask; }

Value bothMasks(const Value &a, const Value &b) { return !a.defined() ? b : !b.defined() ? a : ops::logical_and(a, b); }

Value softmaxOver(const Value &x, const Axes &axes) {
  const Value e = ops::exp(belowLargest(x, axes)), shares = e / ops::sum(e, axes, /*keepdims=*/true);
  return asDtype(shares, floatOf(x.dtype()));
}

Value softmaxOver(const Value &given, const Axes &axes, const Value &mask) {
  const Value x = asFloat(given);
  if (!mask.defined())
    return softmaxOver(x, axes);
  const double hidden = x.dtype() == DType::float16 ? -3e4 : -1e9;
  const Value kept = broadcastTo(asMask(mask), x.shape());
  return ops::where(kept, softmaxOver(ops::where(kept, x, ops::full_like(x, hidden)), axes), ops::zeros_like(x));
}

} // namespace halftone::detail
