// Gamma, beta and binomial draws.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/RandomDistributions.h"
#include "frontend/base/RandomRules.h"
#include "frontend/graph/ControlFlow.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/RandomNumbers.h"
#include <limits>

namespace halftone::detail {

using List = std::vector<Value>;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// Streams of a key per round.
constexpr uint32_t streamsPerRound = 16;

Value laterKey(const Value &key, uint32_t streams) { return key + keyConstant({offsetOfStream(streams), 0}); }
Value keyOfRound(const Value &key, const Value &round) {
  const Value first = asDtype(round, key.dtype(), "random") * static_cast<int64_t>(offsetOfStream(streamsPerRound));
  return key + ops::stack({first, ops::zeros_like(first)});
}

/// The first accepted candidate of each element, or `otherwise` after the last of `rounds`.
struct Candidate {
  Value value, isAccepted;
};
Value firstAccepted(const Value &key, const Value &otherwise, int64_t rounds,
                    const std::function<Candidate(const Value &key)> &candidate) {
  const Value none = tracing().splat(false, otherwise.shape(), DType::bool_);
  const auto condition = [](const List &carry) { return ops::any(ops::logical_not(carry[1])); };
  const auto step = [&](const Value &round, const List &carry) {
    const Candidate next = candidate(keyOfRound(key, round));
    const Value takes = ops::logical_and(next.isAccepted, ops::logical_not(carry[1]));
    return List{ops::where(takes, next.value, carry[0]), ops::logical_or(carry[1], next.isAccepted)};
  };
  return whileLoop(tracing(), {otherwise, none}, rounds, condition, step)[0];
}

constexpr int64_t maxRounds = 64; // enough for an acceptance rate above 3/4

} // namespace

GammaDraw gammaDraw(const Value &key, const Value &alpha) {
  // Marsaglia and Tsang, for alpha + 1 if alpha is below 1.
  const Shape shape = alpha.shape();
  const DType dtype = alpha.dtype();
  const Value isSmall = alpha < 1;
  const Value d = ops::where(isSmall, alpha + 1.0, alpha) - 1.0 / 3.0, c = ops::rsqrt(9.0 * d);
  const auto candidate = [&](const Value &own) {
    const Value x = normal(own, shape, dtype), root = 1.0 + c * x, u = uniform(own, shape, 0.5, dtype, 2);
    const Value isPositive = root > 0, v = ops::where(isPositive, root * root * root, 1);
    const Value bound = 0.5 * x * x + d * (1.0 - v + ops::log(v));
    return Candidate{v, ops::logical_and(isPositive, ops::log(u) < bound)};
  };
  const Value v = firstAccepted(key, ops::ones_like(alpha), maxRounds, candidate);
  const Value logarithm = ops::log(uniform(key, shape, 0.5, dtype, 3)) / ops::where(isSmall, alpha, 1);
  return {ops::where(alpha >= 0, d * v, nan), ops::where(isSmall, logarithm, 0)};
}

Value betaDraw(const Value &key, const Value &alpha, const Value &beta) {
  const GammaDraw a = gammaDraw(key, alpha), b = gammaDraw(laterKey(key, streamsPerRound / 2), beta);
  const Value first = ops::log(a.base) + a.logarithm, second = ops::log(b.base) + b.logarithm;
  return ops::sigmoid(first - second);
}

namespace {

/// log(k!) minus Stirling's (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2.
Value stirlingRest(const Value &k) {
  const Value n = k + 1.0, square = n * n;
  // The series is accurate to 1e-9 from n = 8 on; below, the recurrence shifts n by 8.
  const auto series = [](const Value &x, const Value &xx) {
    return (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0) / xx) / xx) / x;
  };
  Value shifted = series(n + 8.0, ops::square(n + 8.0));
  for (int i = 0; i < 8; ++i) {
    const Value m = n + static_cast<double>(i);
    shifted = shifted + (m + 0.5) * ops::log1p(1.0 / m) - 1.0;
  }
  return ops::where(n < 8, shifted, series(n, square));
}

/// Hormann's BTRS, for n p of at least 10 and p up to 1/2.
Value manyTrials(const Value &key, const Value &n, const Value &p) {
  const Shape shape = n.shape();
  const DType dtype = n.dtype();
  const Value deviation = ops::sqrt(n * p * (1.0 - p)), b = 1.15 + 2.53 * deviation;
  const Value a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5, r = p / (1.0 - p);
  const Value size = (2.83 + 5.1 / b) * deviation, m = ops::floor((n + 1.0) * p);
  const auto candidate = [&](const Value &own) {
    const Value u = uniform(own, shape, 0.5, dtype) - 0.5, v = uniform(own, shape, 0.5, dtype, 1);
    const Value us = 0.5 - ops::abs(u), k = ops::floor((2.0 * a / us + b) * u + c);
    const Value isInside = ops::logical_and(k >= 0, k <= n), inner = ops::clip(k, 0.0, n);
    const Value isSure = ops::logical_and(us >= 0.07, v <= 0.92 - 4.2 / b);
    const Value bound = (m + 0.5) * ops::log((m + 1.0) / (r * (n - m + 1.0))) +
                        (n + 1.0) * ops::log((n - m + 1.0) / (n - inner + 1.0)) +
                        (inner + 0.5) * ops::log(r * (n - inner + 1.0) / (inner + 1.0)) + stirlingRest(m) +
                        stirlingRest(n - m) - stirlingRest(inner) - stirlingRest(n - inner);
    const Value isLikely = ops::log(v * size / (a / (us * us) + b)) <= bound;
    return Candidate{inner, ops::logical_and(isInside, ops::logical_or(isSure, isLikely))};
  };
  return firstAccepted(key, m, maxRounds, candidate);
}

/// Counts successes by their geometrically distributed gaps: for n p below 10.
Value fewSuccesses(const Value &key, const Value &n, const Value &p) {
  constexpr int64_t most = 128;
  const Value logarithm = ops::log1p(-p);
  const auto condition = [&](const List &carry) { return ops::any(carry[0] <= n); };
  const auto step = [&](const Value &round, const List &carry) {
    const Value u = uniform(keyOfRound(key, round), n.shape(), 0.5, n.dtype(), 2);
    const Value position = carry[0] + ops::maximum(ops::ceil(ops::log(u) / logarithm), 1.0);
    return List{position, ops::where(position <= n, carry[1] + 1.0, carry[1])};
  };
  return whileLoop(tracing(), {ops::zeros_like(n), ops::zeros_like(n)}, most, condition, step)[1];
}

} // namespace

Value binomialDraw(const Value &key, const Value &counts, const Value &probabilities) {
  const Value isValid = ops::logical_and(counts >= 0, ops::logical_and(probabilities >= 0, probabilities <= 1));
  const Value isLarge = probabilities > 0.5, n = ops::where(isValid, ops::floor(counts), 0);
  const Value p = ops::where(isValid, ops::where(isLarge, 1.0 - probabilities, probabilities), 0);
  const Value hasMany = n * p >= 10;
  const Value many = manyTrials(key, ops::where(hasMany, n, 40), ops::where(hasMany, p, 0.5));
  const Value few = fewSuccesses(key, ops::where(hasMany, 0, n), ops::where(hasMany, 0.5, p));
  const Value found = ops::where(hasMany, many, few);
  return ops::where(isValid, ops::where(isLarge, n - found, found), nan);
}

} // namespace halftone::detail
