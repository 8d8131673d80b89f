// Jacobi's method for symmetric matrices, and its one-sided form for singular values.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/Rotations.h"
#include "frontend/graph/ControlFlow.h"
#include "frontend/graph/Literals.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Factorizations.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace halftone::detail {

using List = std::vector<Value>;

namespace {

constexpr int64_t maxSweeps = 30;

double epsilonOf(DType dtype) {
  return dtype == DType::float64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

/// Columns are in two halves, and column i of the first is paired with column i of the second. This permutation of the
/// columns gives the next pairs: the first column stays, and the others advance by one position around the two halves.
/// With n columns, n - 1 permutations pair every two columns.
Value nextPairs(int64_t count) {
  const int64_t half = count / 2;
  std::vector<double> order(static_cast<size_t>(count), 0);
  for (int64_t i = 1; i < half; ++i) {
    order[static_cast<size_t>(i)] = static_cast<double>(i == 1 ? half : i - 1);
    order[static_cast<size_t>(half + i - 1)] = static_cast<double>(half + i);
  }
  order.back() = static_cast<double>(half == 1 ? 1 : half - 1);
  return vectorOf(order, DType::int32);
}

Value half(const Value &x, int64_t axis, int64_t which) {
  std::vector<int64_t> start(static_cast<size_t>(x.rank()), 0), dims = x.shape().dims();
  dims[static_cast<size_t>(axis)] /= 2;
  start[static_cast<size_t>(axis)] = which * dims[static_cast<size_t>(axis)];
  return tracing().slice(x, start, Shape(dims));
}
Value exchanged(const Value &x, int64_t axis) { return tracing().concat({half(x, axis, 1), half(x, axis, 0)}, axis); }

/// The rotations of all pairs, (batch, pairs): (p, q) becomes (c p - s q, s p + c q).
struct Rotations {
  Value c, s, t;
};
/// The rotations that zero the off-diagonal element of [[p, between], [between, q]]; none where `rotates` is false.
Rotations rotationsOf(const Value &p, const Value &between, const Value &q, const Value &rotates) {
  const Value ratio = (q - p) / (2.0 * ops::where(rotates, between, 1));
  const Value size = 1.0 / (ops::abs(ratio) + ops::hypot(ratio, 1));
  const Value t = ops::where(rotates, ops::where(ops::less(ratio, 0), -size, size), 0);
  const Value c = ops::rsqrt(1.0 + ops::square(t));
  return {c, t * c, t};
}
/// The factors of each element and of its partner in a rotation: (batch, columns).
std::array<Value, 2> sharesOfRotation(const Rotations &by) {
  return {tracing().concat({by.c, by.c}, 1), tracing().concat({-by.s, by.s}, 1)};
}
Value rotatedColumns(const Value &x, const Rotations &by) {
  const auto [own, other] = sharesOfRotation(by);
  return x * ops::expand_dims(own, 1) + exchanged(x, 2) * ops::expand_dims(other, 1);
}
/// Rotates rows and columns.
Value rotatedBoth(const Value &x, const Rotations &by) {
  const auto [own, other] = sharesOfRotation(by);
  const Value rows = exchanged(x, 1);
  return ops::expand_dims(own, 2) * (x * ops::expand_dims(own, 1) + exchanged(x, 2) * ops::expand_dims(other, 1)) +
         ops::expand_dims(other, 2) *
             (rows * ops::expand_dims(own, 1) + exchanged(rows, 2) * ops::expand_dims(other, 1));
}

/// Appends a column of zeros if the number of columns is odd.
Value evened(const Value &x) {
  const int64_t rows = x.shape()[1], columns = x.shape()[2];
  Value y = x;
  if (columns % 2 != 0)
    y = tracing().concat({y, tracing().splat(0, Shape({x.shape()[0], rows, 1}), x.dtype())}, 2);
  return y;
}
Value evenedSquare(const Value &x) { return matrixTranspose(evened(matrixTranspose(evened(x)))); }

/// Sweeps until `worst`, the last carry, is at most `tolerance` for all matrices. `round` maps the other carries to
/// their next values and the magnitude of the rotated elements, (batch).
List sweep(const List &inits, int64_t columns, double tolerance, const std::function<List(const List &)> &round) {
  const Shape each({inits[0].shape()[0]});
  const auto without = [](const List &carry) { return List(carry.begin(), carry.end() - 1); };
  const auto condition = [&](const List &carry) { return ops::any(ops::greater(carry.back(), tolerance)); };
  const auto step = [&](const Value &, const List &carry) {
    List begin = without(carry);
    begin.push_back(tracing().splat(0, each, inits[0].dtype()));
    return scan(tracing(), begin, {}, columns - 1, false,
                [&](const Value &, const List &now, const List &) {
                  List next = round(without(now));
                  next.back() = ops::maximum(now.back(), next.back());
                  return LoopStep{next, {}};
                })
        .carries;
  };
  List begin = inits;
  begin.push_back(tracing().splat(1, each, inits[0].dtype()));
  return whileLoop(tracing(), begin, maxSweeps, condition, step);
}

/// Permutes the columns of each matrix in this order.
Value ordered(const Value &x, const Value &order) {
  return matrixTranspose(tracing().gather(matrixTranspose(x), order, 1, 1));
}
Value firstColumns(const Value &x, int64_t rows, int64_t columns) {
  return tracing().slice(x, {0, 0, 0}, Shape({x.shape()[0], rows, columns}));
}

/// Returns whether a column is the one that `evened` appended, which no rotation has changed, from the last row of the
/// vectors.
Value isAdded(const Value &vectors) {
  const int64_t n = vectors.shape()[2];
  const Value row = tracing().slice(vectors, {0, n - 1, 0}, Shape({vectors.shape()[0], 1, n}));
  return ops::not_equal(tracing().reshape(row, Shape({vectors.shape()[0], n})), 0);
}

} // namespace

Eigen symmetricEigen(const Value &a) {
  const int64_t n = a.shape()[1];
  if (n == 0)
    return {tracing().splat(0, Shape({a.shape()[0], 0}), a.dtype()), a};
  const Value begin = evenedSquare(a);
  const int64_t count = begin.shape()[1], pairs = count / 2;
  const Value order = nextPairs(count), size = ops::max(ops::abs(a), {1, 2});
  const Value safe = ops::where(ops::greater(size, 0), size, 1);
  const auto round = [&](const List &carry) {
    const Value &x = carry[0], diagonal = diagonalOf(x);
    const Value p = half(diagonal, 1, 0), q = half(diagonal, 1, 1);
    const Value between = diagonalOf(half(half(x, 1, 0), 2, 1));
    const Rotations by = rotationsOf(p, between, q, ops::not_equal(between, 0));
    const Value both = rotatedBoth(x, by);
    const Value exact = tracing().concat({p - by.t * between, q + by.t * between}, 1);
    const Value distance = ops::abs(indicesAlong(1, x) - indicesAlong(2, x));
    const Value next = ops::where(ops::equal(distance, 0), ops::expand_dims(exact, 1),
                                  ops::where(ops::equal(distance, pairs), 0, both));
    const Value moved = tracing().gather(tracing().gather(next, order, 1), order, 2);
    return List{moved, tracing().gather(rotatedColumns(carry[1], by), order, 2),
                ops::max(ops::abs(between), {1}) / safe};
  };
  const List last =
      sweep({begin, identityLike(a, count, count)}, count, epsilonOf(a.dtype()) / static_cast<double>(n), round);
  const Value values = diagonalOf(last[0]);
  const Value key = count == n ? values : ops::where(isAdded(last[1]), HUGE_VAL, values);
  const auto [ascending, indices] = tracing().sort(key, 1, false, n);
  const Value holds = areFinite(a);
  return {nanUnless(holds, ascending), nanUnless(holds, firstColumns(ordered(last[1], indices), n, n))};
}

namespace {

/// Rotations v such that the columns of x v are orthogonal, and these columns, in descending order of their norms.
struct Orthogonal {
  Value columns, norms, v;
};
Orthogonal orthogonalColumns(const Value &x) {
  const int64_t n = x.shape()[2];
  const Value begin = evened(x);
  const int64_t count = begin.shape()[2];
  const Value order = nextPairs(count);
  const double tolerance = epsilonOf(x.dtype()) * std::sqrt(static_cast<double>(std::max<int64_t>(n, 16)));
  const auto round = [&](const List &carry) {
    const Value p = half(carry[0], 2, 0), q = half(carry[0], 2, 1);
    const Value pp = ops::sum(p * p, {1}), qq = ops::sum(q * q, {1}), between = ops::sum(p * q, {1});
    const Value sizes = ops::sqrt(pp) * ops::sqrt(qq);
    const Value angle =
        ops::where(ops::greater(sizes, 0), ops::abs(between) / ops::where(ops::greater(sizes, 0), sizes, 1), 0);
    const Rotations by = rotationsOf(pp, between, qq, ops::greater(angle, tolerance));
    return List{tracing().gather(rotatedColumns(carry[0], by), order, 2),
                tracing().gather(rotatedColumns(carry[1], by), order, 2), ops::max(angle, {1})};
  };
  const List last = sweep({begin, identityLike(x, count, count)}, count, tolerance, round);
  const Value norms = ops::sqrt(ops::sum(ops::square(last[0]), {1}));
  const Value key = count == n ? norms : ops::where(isAdded(last[1]), -1, norms);
  const auto [descending, indices] = tracing().sort(key, 1, true, n);
  return {firstColumns(ordered(last[0], indices), n, n), descending, firstColumns(ordered(last[1], indices), n, n)};
}

} // namespace

Singular singularValues(const Value &given, bool complete) {
  const int64_t batch = given.shape()[0], m = given.shape()[1], n = given.shape()[2];
  if (n == 0)
    return {identityLike(given, m, complete ? m : 0), tracing().splat(0, Shape({batch, 0}), given.dtype()),
            identityLike(given, 0, 0)};
  const Value size = ops::max(ops::abs(given), {1, 2}, true);
  const Value safe = ops::where(ops::greater(size, 0), size, 1);
  const auto [q, r] = qrFactors(given / safe, complete);
  // r^T v = w diag(s), so r = v diag(s) w^T. QR also yields columns of w for zero singular values.
  const Orthogonal by = orthogonalColumns(matrixTranspose(tracing().slice(r, {0, 0, 0}, Shape({batch, n, n}))));
  const auto [w, d] = qrFactors(by.columns, true);
  const Value signs = ops::where(ops::less(diagonalOf(d), 0), -1.0, ops::ones_like(by.norms));
  const Value inner = ops::matmul(tracing().slice(q, {0, 0, 0}, Shape({batch, m, n})), by.v);
  const Value u =
      complete && m > n ? tracing().concat({inner, tracing().slice(q, {0, 0, n}, Shape({batch, m, m - n}))}, 2) : inner;
  const Value holds = areFinite(given);
  return {nanUnless(holds, u), nanUnless(holds, by.norms * ops::reshape(safe, Shape({batch, 1}))),
          nanUnless(holds, w * ops::expand_dims(signs, 1))};
}

} // namespace halftone::detail
