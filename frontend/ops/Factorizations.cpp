// LU, Cholesky and QR factorizations, and triangular systems, column by column.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/Factorizations.h"
#include "frontend/graph/ControlFlow.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <limits>

namespace halftone::detail {

using List = std::vector<Value>;

namespace {

Value asColumn(const Value &x) { return ops::expand_dims(x, -1); }
Value asRow(const Value &x) { return ops::expand_dims(x, -2); }
Value at(const Value &x, const Value &index, int64_t axis) { return tracing().gather(x, index, axis); }
/// The int32 indices 0, 1, ... of an axis.
Value indices(int64_t extent) { return tracing().iota(0, Shape({extent}), DType::int32); }
Value chosenRows(const Value &x, const Value &order) { return tracing().gather(x, order, 1, 1); }

} // namespace

Value matrixTranspose(const Value &x) { return tracing().transpose(x, {0, 2, 1}); }
Value indicesAlong(int64_t axis, const Value &like) { return tracing().iota(axis, like.shape(), DType::int32); }
Value triangleOf(const Value &x, ComparePredicate rowToColumn) {
  const Value holds = tracing().compare(rowToColumn, indicesAlong(1, x), indicesAlong(2, x));
  return tracing().select(holds, x, scalarLike(0, x));
}
Value identityLike(const Value &x, int64_t rows, int64_t columns) {
  const Shape shape({x.shape()[0], rows, columns});
  Trace &t = tracing();
  const Value isDiagonal =
      t.compare(ComparePredicate::eq, t.iota(1, shape, DType::int32), t.iota(2, shape, DType::int32));
  return t.select(isDiagonal, t.splat(1, shape, x.dtype()), t.splat(0, shape, x.dtype()));
}
Value diagonalOf(const Value &x) { return ops::diagonal(x, 0, 1, 2); }
Value nanUnless(const Value &holds, const Value &x) {
  std::vector<int64_t> dims(static_cast<size_t>(x.rank()), 1);
  dims[0] = x.shape()[0];
  return ops::where(ops::reshape(holds, Shape(dims)), x, std::numeric_limits<double>::quiet_NaN());
}
Value areFinite(const Value &x) { return ops::all(ops::isfinite(x), {1, 2}); }

LuFactors luFactors(const Value &given) {
  const int64_t batch = given.shape()[0], m = given.shape()[1], n = given.shape()[2];
  const Value rows = indices(m), columns = indices(n);
  const auto step = [&](const Value &i, const List &carry, const List &) {
    const Value candidates = ops::where(ops::less(rows, i), -1, ops::abs(at(carry[0], i, 2)));
    const Value pivot = ops::argmax(candidates, 1);
    const Value swapped =
        ops::where(ops::equal(rows, i), asColumn(pivot), ops::where(ops::equal(rows, asColumn(pivot)), i, rows));
    const Value a = chosenRows(carry[0], swapped), top = at(a, i, 1), corner = asColumn(at(top, i, 1));
    const Value column = at(a, i, 2);
    const Value isBelow = ops::greater(rows, i);
    const Value factors = ops::where(ops::logical_and(isBelow, ops::not_equal(corner, 0)),
                                     column / ops::where(ops::equal(corner, 0), 1, corner), column);
    const Value inner = ops::logical_and(asColumn(isBelow), ops::greater(columns, i));
    const Value next =
        ops::where(inner, a - asColumn(factors) * asRow(top), ops::where(ops::equal(columns, i), asColumn(factors), a));
    return LoopStep{{next, chosenRows(carry[1], swapped)}, {pivot}};
  };
  const Value order = broadcastTo(rows, Shape({batch, m}));
  const int64_t steps = std::min(m, n);
  if (steps == 0)
    return {given, tracing().splat(0, Shape({batch, 0}), DType::int32), order};
  const LoopStep last = scan(tracing(), {given, order}, {}, steps, false, step);
  return {last.carries[0], tracing().transpose(last.ys[0], {1, 0}), last.carries[1]};
}

Value choleskyFactor(const Value &given) {
  const int64_t n = given.shape()[1];
  if (n == 0)
    return given;
  const Value rows = indices(n);
  const auto step = [&](const Value &i, const List &carry, const List &) {
    const Value column = at(carry[0], i, 2), root = ops::sqrt(asColumn(at(column, i, 1)));
    const Value below = ops::where(ops::greater(rows, i), column / root, 0);
    const Value factor = ops::where(ops::equal(rows, i), root, below);
    return LoopStep{{carry[0] - asColumn(below) * asRow(below)}, {factor}};
  };
  const LoopStep last = scan(tracing(), {given}, {}, n, false, step);
  const Value factor = tracing().transpose(last.ys[0], {1, 2, 0});
  return triangleOf(nanUnless(ops::all(ops::greater(diagonalOf(factor), 0), {1}), factor), ComparePredicate::ge);
}

Value triangularSolution(const Value &a, const Value &b, Triangle triangle) {
  const bool isUpper = triangle == Triangle::upper;
  const int64_t n = a.shape()[1];
  const Value rows = indices(n);
  const auto step = [&](const Value &i, const List &carry, const List &) {
    const Value column = at(a, i, 2), right = at(carry[0], i, 1);
    const Value solved = triangle == Triangle::unitLower ? right : right / asColumn(at(column, i, 1));
    const Value isLater = isUpper ? ops::less(rows, i) : ops::greater(rows, i);
    const Value rest = carry[0] - asColumn(column) * asRow(solved);
    return LoopStep{
        {ops::where(asColumn(isLater), rest, ops::where(asColumn(ops::equal(rows, i)), asRow(solved), carry[0]))}, {}};
  };
  return n == 0 ? b : scan(tracing(), {b}, {}, n, isUpper, step).carries[0];
}

Value solutionBy(const LuFactors &factors, const Value &b) {
  const Value inner = triangularSolution(factors.lu, chosenRows(b, factors.order), Triangle::unitLower);
  return triangularSolution(factors.lu, inner, Triangle::upper);
}

Value transposedSolutionBy(const LuFactors &factors, const Value &b) {
  // a = P^T L U, so a^T x = U^T L^T P x.
  const Value transposed = matrixTranspose(factors.lu);
  const Value inner = triangularSolution(transposed, b, Triangle::lower);
  const Value unit = ops::where(ops::equal(indicesAlong(1, transposed), indicesAlong(2, transposed)), 1, transposed);
  return chosenRows(triangularSolution(unit, inner, Triangle::upper), ops::argsort(factors.order));
}

namespace {

/// The reflection I - tau v v^T that maps the part of a column from row i on to a multiple of the i-th unit vector.
struct Reflection {
  Value v, tau;
};
Reflection reflection(const Value &column, const Value &i) {
  const Value rows = indices(column.shape()[1]), isBelow = ops::greater(rows, i);
  const Value tail = ops::where(isBelow, column, 0);
  const Value largest = ops::max(ops::abs(tail), {1}, true);
  const Value unit = ops::where(ops::greater(largest, 0), largest, 1);
  const Value norm = unit * ops::sqrt(ops::sum(ops::square(tail / unit), {1}, true));
  const Value isReduced = ops::equal(norm, 0), first = asColumn(at(column, i, 1));
  const Value length = ops::hypot(ops::where(isReduced, 1, first), norm);
  const Value beta = ops::where(ops::less(first, 0), length, -length);
  const Value v = ops::where(isBelow, tail / ops::where(isReduced, 1, first - beta),
                             ops::where(ops::equal(rows, i), 1, ops::zeros_like(column)));
  return {v, ops::where(isReduced, 0, (beta - first) / beta)};
}
Value reflected(const Reflection &by, const Value &x) {
  const Value along = ops::matmul(asRow(by.v), x);
  return x - asColumn(by.tau * by.v) * along;
}

} // namespace

std::array<Value, 2> qrFactors(const Value &a, bool complete) {
  const int64_t m = a.shape()[1], n = a.shape()[2], steps = std::min(m, n), k = complete ? m : steps;
  Value r = a, q = identityLike(a, m, k);
  if (steps > 0) {
    const LoopStep last = scan(tracing(), {a}, {}, steps, false, [](const Value &i, const List &carry, const List &) {
      const Reflection by = reflection(at(carry[0], i, 2), i);
      return LoopStep{{reflected(by, carry[0])}, {by.v, by.tau}};
    });
    r = last.carries[0];
    q = scan(tracing(), {q}, last.ys, steps, true, [](const Value &, const List &carry, const List &by) {
          return LoopStep{{reflected({by[0], by[1]}, carry[0])}, {}};
        }).carries[0];
  }
  const Value kept = k == m ? r : tracing().slice(r, {0, 0, 0}, Shape({a.shape()[0], k, n}));
  return {q, triangleOf(kept, ComparePredicate::le)};
}

} // namespace halftone::detail
