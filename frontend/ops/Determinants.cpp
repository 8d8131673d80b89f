// Determinants by LU factors, and their gradients by cofactors.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/Determinants.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Factorizations.h"
#include "halftone/Ops.h"
#include <cmath>

namespace halftone::detail {

using List = std::vector<Value>;

namespace {

Value element(const Value &a, int64_t row, int64_t column) {
  const int64_t batch = a.shape()[0];
  return tracing().reshape(tracing().slice(a, {0, row, column}, Shape({batch, 1, 1})), Shape({batch}));
}
/// The determinant of two columns, restricted to rows i and j.
Value minor(const Value &a, int64_t i, int64_t j, int64_t first, int64_t second) {
  return element(a, i, first) * element(a, j, second) - element(a, i, second) * element(a, j, first);
}

/// 1, or -1 if an odd number of the facts is true: (batch).
Value signOf(const Value &facts, DType dtype) {
  const Value isOdd = ops::not_equal(ops::bitwise_and(ops::count_nonzero(facts, {1}), 1), 0);
  const Shape shape = isOdd.shape();
  return tracing().select(isOdd, tracing().splat(-1, shape, dtype), tracing().splat(1, shape, dtype));
}
Value exchanges(const LuFactors &factors) {
  return ops::not_equal(factors.pivots, tracing().iota(1, factors.pivots.shape(), DType::int32));
}

/// The adjugate, from the factors of a matrix of rank at least n - 1. Let U' be U with its last pivot replaced by the
/// inverse of the product of the other pivots. The adjugate is U'^-1 D L^-1 P, where D has the determinant on the
/// diagonal, except for 1 in the last position.
Value adjugateBy(const LuFactors &factors, const Value &signs) {
  const Value lu = factors.lu;
  const int64_t batch = lu.shape()[0], n = lu.shape()[1];
  const Value partial = ops::cumprod(diagonalOf(lu), 1) * ops::expand_dims(signs, 1);
  const auto product = [&](int64_t i) { return tracing().slice(partial, {0, i}, Shape({batch, 1})); };
  const Value row = indicesAlong(1, lu), column = indicesAlong(2, lu);
  const Value isLast = ops::logical_and(ops::equal(row, n - 1), ops::equal(column, n - 1));
  const Value changed = ops::where(isLast, ops::expand_dims(1.0 / product(n - 2), 2), lu);
  const Value ones = tracing().splat(1, Shape({batch, n, 1}), lu.dtype());
  const Value isRegular = areFinite(triangularSolution(changed, ones, Triangle::upper));
  const Value identity = identityLike(lu, n, n);
  const Value given = tracing().gather(identity, factors.order, 1, 1);
  const Value inner = triangularSolution(lu, given, Triangle::unitLower);
  const Value scaled = ops::where(ops::equal(row, n - 1), inner, inner * ops::expand_dims(product(n - 1), 2));
  const Value found = triangularSolution(changed, scaled, Triangle::upper);
  return ops::where(ops::reshape(isRegular, Shape({batch, 1, 1})), found, 0);
}

} // namespace

Value determinantOf(const Value &a) {
  const int64_t batch = a.shape()[0], n = a.shape()[1];
  if (n == 0)
    return tracing().splat(1, Shape({batch}), a.dtype());
  if (n == 1)
    return element(a, 0, 0);
  if (n == 2)
    return minor(a, 0, 1, 0, 1);
  if (n == 3)
    return element(a, 0, 0) * minor(a, 1, 2, 1, 2) - element(a, 0, 1) * minor(a, 1, 2, 0, 2) +
           element(a, 0, 2) * minor(a, 1, 2, 0, 1);
  const LuFactors factors = luFactors(a);
  const Value signs = signOf(exchanges(factors), a.dtype());
  const Value found = ops::prod(diagonalOf(factors.lu), {1}) * signs;
  return tracing().customGradient(found, {a}, [&](const Value &upstream) {
    return List{matrixTranspose(adjugateBy(factors, signs)) * ops::reshape(upstream, Shape({batch, 1, 1}))};
  });
}

std::array<Value, 2> signAndLogOf(const Value &a) {
  const LuFactors factors = luFactors(a);
  const Value pivots = diagonalOf(factors.lu), isSingular = ops::any(ops::equal(pivots, 0), {1});
  const Value facts = tracing().concat({exchanges(factors), ops::less(pivots, 0)}, 1);
  const Value logarithms = ops::where(isSingular, -HUGE_VAL, ops::sum(ops::log(ops::abs(pivots)), {1}));
  const Value known = ops::where(ops::isnan(logarithms), logarithms, signOf(facts, a.dtype()));
  const Value signs = ops::where(isSingular, 0, known);
  const Value found = tracing().customGradient(logarithms, {a}, [&](const Value &upstream) {
    const Value inverse = transposedSolutionBy(factors, identityLike(a, a.shape()[1], a.shape()[1]));
    return List{inverse * ops::reshape(upstream, Shape({a.shape()[0], 1, 1}))};
  });
  return {ops::stop_gradient(signs), found};
}

} // namespace halftone::detail
