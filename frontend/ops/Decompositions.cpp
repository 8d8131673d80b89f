// Matrix factorizations with closed-form gradients.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/Decompositions.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Ops.h"
#include <algorithm>

namespace halftone::detail {

using List = std::vector<Value>;

/// The number of times that results of Rotations.h can be differentiated; its loops have no gradient.
static constexpr int derivatives = 3;

namespace {

Value transposed(const Value &x) { return matrixTranspose(x); }
Value lowerOf(const Value &x) { return triangleOf(x, ComparePredicate::ge); }
Value strictlyLowerOf(const Value &x) { return triangleOf(x, ComparePredicate::gt); }
Value upperOf(const Value &x) { return triangleOf(x, ComparePredicate::le); }
/// x times the inverse of a triangular matrix.
Value overTriangular(const Value &x, const Value &a, Triangle transposedTriangle) {
  return transposed(triangularSolution(transposed(a), transposed(x), transposedTriangle));
}
/// Crops the matrices of x to `rows` and `columns`, or pads them from the identity.
Value padded(const Value &x, int64_t rows, int64_t columns) {
  const int64_t m = x.shape()[1], n = x.shape()[2];
  const Value identity = identityLike(x, rows, columns);
  Value y = tracing().slice(x, {0, 0, 0}, Shape({x.shape()[0], std::min(m, rows), std::min(n, columns)}));
  if (m < rows)
    y = tracing().concat({y, tracing().slice(identity, {0, m, 0}, Shape({x.shape()[0], rows - m, columns}))}, 1);
  if (n < columns)
    y = tracing().concat({y, tracing().slice(identity, {0, 0, n}, Shape({x.shape()[0], rows, columns - n}))}, 2);
  return y;
}

} // namespace

Value choleskyOf(const Value &a) {
  const Value l = choleskyFactor(a);
  return tracing().customGradient(l, {a}, [&](const Value &upstream) {
    const Value product = lowerOf(ops::matmul(transposed(l), lowerOf(upstream)));
    const Value halved = product - ops::where(ops::equal(indicesAlong(1, l), indicesAlong(2, l)), product * 0.5, 0);
    const Value inner = triangularSolution(transposed(l), halved, Triangle::upper);
    return List{overTriangular(inner, l, Triangle::upper)};
  });
}

Value solutionOf(const Value &a, const Value &b, const LuFactors &factors) {
  const Value x = solutionBy(factors, b);
  return tracing().customGradient(x, {a, b}, [&](const Value &upstream) {
    const Value right = transposedSolutionBy(factors, upstream);
    return List{-ops::matmul(right, transposed(x)), right};
  });
}

Value triangularSolutionOf(const Value &a, const Value &b, bool lower) {
  const Value x = triangularSolution(a, b, lower ? Triangle::lower : Triangle::upper);
  return tracing().customGradient(x, {a, b}, [&](const Value &upstream) {
    const Value right = triangularSolution(transposed(a), upstream, lower ? Triangle::upper : Triangle::lower);
    const Value left = -ops::matmul(right, transposed(x));
    return List{lower ? lowerOf(left) : upperOf(left), right};
  });
}

LuFactors luOf(const Value &a) {
  const int64_t m = a.shape()[1], n = a.shape()[2];
  LuFactors factors = luFactors(a);
  const Value lu = factors.lu;
  factors.lu = tracing().customGradient(lu, {a}, [&](const Value &upstream) {
    const Value l = padded(strictlyLowerOf(lu), m, m);
    const Value unitLower = ops::where(ops::equal(indicesAlong(1, l), indicesAlong(2, l)), 1, l);
    const Value u = padded(upperOf(lu), n, n);
    const Value lowerPart = strictlyLowerOf(ops::matmul(transposed(unitLower), strictlyLowerOf(upstream)));
    const Value upperPart = upperOf(ops::matmul(upperOf(upstream), transposed(u)));
    const Value inner = triangularSolution(transposed(unitLower), lowerPart + upperPart, Triangle::upper);
    const Value ordered = overTriangular(inner, transposed(u), Triangle::upper);
    return List{tracing().gather(ordered, ops::argsort(factors.order), 1, 1)};
  });
  return factors;
}

namespace {

/// Thin QR of matrices with at least as many rows as columns.
std::array<Value, 2> thinQr(const Value &a) {
  const auto [q, r] = qrFactors(a, false);
  // The gradient of `a` from one of the results, where `product` is R R'^T or -Q'^T Q.
  const auto gradient = [&q](const Value &product) {
    const Value symmetric = lowerOf(product) + transposed(strictlyLowerOf(product));
    return ops::matmul(q, symmetric);
  };
  const auto overR = [&r](const Value &x) { return transposed(triangularSolution(r, transposed(x), Triangle::upper)); };
  const Value ofQ = tracing().customGradient(q, {a}, [&](const Value &upstream) {
    return List{overR(upstream + gradient(-ops::matmul(transposed(upstream), q)))};
  });
  const Value ofR = tracing().customGradient(r, {a}, [&](const Value &upstream) {
    return List{overR(gradient(ops::matmul(r, transposed(upperOf(upstream)))))};
  });
  return {ofQ, ofR};
}

} // namespace

std::array<Value, 2> qrOf(const Value &a, bool complete) {
  const int64_t batch = a.shape()[0], m = a.shape()[1], n = a.shape()[2];
  if (m > n && complete) // no closed form is known for the additional columns
    return qrFactors(a, true);
  if (m >= n)
    return thinQr(a);
  const auto [q, r] = thinQr(tracing().slice(a, {0, 0, 0}, Shape({batch, m, m})));
  const Value rest = tracing().slice(a, {0, 0, m}, Shape({batch, m, n - m}));
  return {q, tracing().concat({r, ops::matmul(transposed(q), rest)}, 2)};
}

namespace {

/// 1 / (b_j - a_i), except for 0 on the diagonal.
Value inverseDifferences(const Value &rows, const Value &columns) {
  const Value difference = ops::expand_dims(columns, 1) - ops::expand_dims(rows, 2);
  const Value isDiagonal = ops::equal(indicesAlong(1, difference), indicesAlong(2, difference));
  return ops::where(isDiagonal, 0, 1.0 / ops::where(isDiagonal, 1, difference));
}

/// Attaches gradients to `raw`. They are computed from `of`, which has the same values and the gradients of higher order.
Eigen withGradients(const Value &a, const Eigen &raw, const Eigen &of) {
  const auto &[w, v] = of;
  const Value values = tracing().customGradient(raw.values, {a}, [&](const Value &upstream) {
    return List{ops::matmul(v * ops::expand_dims(upstream, 1), transposed(v))};
  });
  const Value vectors = tracing().customGradient(raw.vectors, {a}, [&](const Value &upstream) {
    const Value inner = inverseDifferences(w, w) * ops::matmul(transposed(v), upstream);
    return List{ops::matmul(ops::matmul(v, inner), transposed(v))};
  });
  return {values, vectors};
}

/// Likewise for the thin factors of a matrix with at least as many rows as columns.
Singular withGradients(const Value &a, const Singular &raw, const Singular &of) {
  const auto &[u, s, v] = of;
  const Value row = ops::expand_dims(s, 1), column = ops::expand_dims(s, 2);
  const auto rotation = [&](const Value &x) { // of the vectors within their span
    const Value inner = inverseDifferences(s, s) / (row + column) * x;
    return inner + transposed(inner);
  };
  const Value ofS = tracing().customGradient(raw.s, {a}, [&](const Value &upstream) {
    return List{ops::matmul(u * ops::expand_dims(upstream, 1), transposed(v))};
  });
  const Value ofU = tracing().customGradient(raw.u, {a}, [&](const Value &upstream) {
    const Value along = ops::matmul(transposed(u), upstream);
    Value gradient = ops::matmul(u, rotation(along) * row);
    if (a.shape()[1] > a.shape()[2])
      gradient = gradient + (upstream - ops::matmul(u, along)) / row;
    return List{ops::matmul(gradient, transposed(v))};
  });
  const Value ofV = tracing().customGradient(raw.v, {a}, [&](const Value &upstream) {
    const Value inner = column * rotation(ops::matmul(transposed(v), upstream));
    return List{ops::matmul(ops::matmul(u, inner), transposed(v))};
  });
  return {ofU, ofS, ofV};
}

/// Attaches gradients up to order `derivatives` to `raw`. All of them read the results of one loop.
template <class Factors> Factors differentiable(const Value &a, const Factors &raw) {
  Factors of = raw;
  for (int order = 0; order < derivatives; ++order)
    of = withGradients(a, raw, of);
  return of;
}

/// The factors u, s and v of matrices with at least as many rows as columns.
Singular tallSvd(const Value &a, bool complete) {
  const Singular raw = singularValues(a, complete);
  Singular thin{tracing().slice(raw.u, {0, 0, 0}, a.shape()), raw.s, raw.v}, of = differentiable(a, thin);
  if (complete && a.shape()[1] != a.shape()[2])
    return {raw.u, of.s, raw.v};
  return of;
}

} // namespace

Eigen eighOf(const Value &a) { return differentiable(a, symmetricEigen(a)); }

Singular svdOf(const Value &a, bool complete) {
  if (a.shape()[1] >= a.shape()[2])
    return tallSvd(a, complete);
  const Singular of = tallSvd(transposed(a), complete);
  return {of.v, of.s, of.u};
}

Value pseudoinverseOf(const Value &a, const Singular &svd, const Value &counts) {
  const Value inverse = ops::where(counts, 1.0 / ops::where(counts, svd.s, 1), 0);
  const Value raw = ops::matmul(svd.v * ops::expand_dims(inverse, 1), transposed(svd.u));
  Value p = raw;
  for (int order = 0; order < derivatives; ++order)
    p = tracing().customGradient(
        raw, {a}, [&a, of = p](const Value &upstream) { return List{pseudoinverseGradient(a, of, upstream)}; });
  return p;
}

Value pseudoinverseGradient(const Value &a, const Value &p, const Value &upstream) {
  // Golub and Pereyra: dp = -p da p + p p^T da^T (1 - a p) + (1 - p a) da^T p^T p.
  const Value pt = transposed(p), ut = transposed(upstream);
  const Value left = ops::matmul(ops::matmul(ut, p), pt), right = ops::matmul(pt, ops::matmul(p, ut));
  return left - ops::matmul(a, ops::matmul(p, left)) + right - ops::matmul(ops::matmul(right, p), a) -
         ops::matmul(ops::matmul(pt, upstream), pt);
}

} // namespace halftone::detail
