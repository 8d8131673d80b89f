// Draws random numbers from a key, and applies dropout with them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/RandomNumbers.h"
#include "frontend/base/RandomRules.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/InverseErf.h"
#include <cmath>
#include <numbers>

namespace halftone::detail {

Value randomWords(const Value &key, const Shape &shape, uint32_t stream) {
  const Value own = stream == 0 ? key : key + keyConstant({offsetOfStream(stream), 0});
  return tracing().randomBits(own, shape);
}

/// The upper `count` bits of words, in a float dtype that represents them exactly.
static Value upperBits(const Value &words, int64_t count, DType dtype) {
  return asDtype(tracing().binary("shr", words, scalarLike(32 - count, words)), dtype, "random");
}

Value uniform(const Value &key, const Shape &shape, double offset, DType dtype, uint32_t which) {
  const bool isDouble = dtype == DType::float64;
  const uint32_t stream = which * (isDouble ? 2 : 1);
  Value upper = upperBits(randomWords(key, shape, stream), isDouble ? 27 : 24, dtype);
  if (isDouble)
    upper = upper * 0x1p26 + upperBits(randomWords(key, shape, stream + 1), 26, dtype);
  return (offset == 0.0 ? upper : upper + offset) * (isDouble ? 0x1p-53 : 0x1p-24);
}

Value normal(const Value &key, const Shape &shape, DType dtype) {
  // The first uniform draw is above 0, so its logarithm is finite.
  const Value radius = ops::sqrt(ops::log(uniform(key, shape, 0.5, dtype)) * -2.0);
  return radius * ops::cos(uniform(key, shape, 0.0, dtype, 1) * (2.0 * std::numbers::pi));
}

Value truncatedNormal(const Value &key, const Shape &shape, DType dtype) {
  const double limit = std::erf(std::numbers::sqrt2); // the probability mass within two standard deviations
  const Value t = uniform(key, shape, 0.5, dtype) * (2.0 * limit) - limit;
  return ops::clip(centralInverseErf(t) * std::numbers::sqrt2, -2.0, 2.0);
}

Value gumbel(const Value &key, const Shape &shape) {
  // Small fractions have the full resolution of the words, so -log1p(-v) is positive and the result is finite.
  const Value words = asDtype(randomWords(key, shape), DType::float32, "random");
  const Value v = ops::minimum((words + 0.5) * 0x1p-32, 1.0 - 0x1p-24);
  return -ops::log(-ops::log1p(-v));
}

Value dropped(const Value &x, double rate, const Shape &mask, const Value &key) {
  // An element is kept if its draw, as a fraction of 2^24, is at least `rate`.
  const Value fraction = upperBits(randomWords(key, mask), 24, DType::float32);
  Value kept = tracing().compare(ComparePredicate::ge, fraction, scalarLike(rate * 0x1p24, fraction));
  if (mask != x.shape())
    kept = broadcastTo(kept, x.shape());
  const Value scaled = rate == 1.0 ? ops::zeros_like(x) : x * (1.0 / (1.0 - rate));
  return ops::where(kept, scaled, ops::zeros_like(x));
}

} // namespace halftone::detail
