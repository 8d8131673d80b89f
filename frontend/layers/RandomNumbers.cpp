// Draws uniform and normal random numbers, and drops elements by them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/RandomNumbers.h"
#include "frontend/graph/Promotion.h"
#include <numbers>

namespace halftone::detail {

/// The upper 24 bits, which float32 holds exactly.
static Value draw(const Variable &state, const Shape &shape) {
  const Value bits = tracing().randomBits(nextKey(state), shape);
  return asDtype(tracing().binary("shr", bits, scalarLike(8, bits)), DType::float32, "random");
}

Value uniform(const Variable &state, const Shape &shape, double offset) {
  const Value upper = draw(state, shape);
  return (offset == 0.0 ? upper : upper + offset) * (1.0 / 16777216.0);
}

Value normal(const Variable &state, const Shape &shape) {
  // The first uniform draw is above 0, so its logarithm is finite.
  const Value radius = ops::sqrt(ops::log(uniform(state, shape, 0.5)) * -2.0);
  return radius * ops::cos(uniform(state, shape) * (2.0 * std::numbers::pi));
}

Value dropped(const Value &x, double rate, const Shape &mask, const Variable &state) {
  // An element is kept if its draw, as a fraction of 2^24, is at least `rate`.
  const Value fraction = draw(state, mask);
  Value kept = tracing().compare(ComparePredicate::ge, fraction, scalarLike(rate * 16777216.0, fraction));
  if (mask != x.shape())
    kept = broadcastTo(kept, x.shape());
  const Value scaled = rate == 1.0 ? ops::zeros_like(x) : x * (1.0 / (1.0 - rate));
  return ops::where(kept, scaled, ops::zeros_like(x));
}

} // namespace halftone::detail
