// Linear algebra in files, with its recorded arguments.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/OperationRows.h"
#include "halftone/Linalg.h"

namespace halftone::detail {

using Arguments = OperationArguments;

Values eighOperation(Arguments &a) {
  const auto [values, vectors] = ops::eigh(a.value("x"));
  return {values, vectors};
}
Values luFactorOperation(Arguments &a) {
  const auto [lu, pivots] = ops::lu_factor(a.value("x"));
  return {lu, pivots};
}
Values slogdetOperation(Arguments &a) {
  const auto [signs, logarithms] = ops::slogdet(a.value("x"));
  return {signs, logarithms};
}
Values qrOperation(Arguments &a) {
  const Value x = a.value("x");
  const auto [q, r] = ops::qr(x, wordOf<QrMode>(a, "mode"));
  return {q, r};
}
Values solveOperation(Arguments &a) {
  const Value left = a.value("a"), right = a.value("b");
  return ops::solve(left, right);
}
Values solveTriangularOperation(Arguments &a) {
  const Value left = a.value("a"), right = a.value("b");
  return ops::solve_triangular(left, right, a.flag("lower"));
}
Values svdOperation(Arguments &a) {
  const Value x = a.value("x");
  const bool isFull = a.isNull("full_matrices") || a.flag("full_matrices");
  const bool hasVectors = a.isNull("compute_uv") || a.flag("compute_uv");
  return ops::svd(x, {.full_matrices = isFull, .compute_uv = hasVectors});
}
static std::optional<double> maybeNumberOf(Arguments &a, const char *key) {
  return a.isNull(key) ? std::nullopt : std::optional(a.number(key));
}
Values lstsqOperation(Arguments &a) {
  const Value left = a.value("a"), right = a.value("b");
  return ops::lstsq(left, right, maybeNumberOf(a, "rcond"));
}
Values matrixRankOperation(Arguments &a) {
  const Value x = a.value("x");
  return ops::matrix_rank(x, maybeNumberOf(a, "tol"));
}
Values pinvOperation(Arguments &a) {
  const Value x = a.value("x");
  return ops::pinv(x, maybeNumberOf(a, "rcond"));
}
Values normOperation(Arguments &a) {
  const Value x = a.value("x");
  ops::NormArgs args;
  if (a.isText("ord"))
    args.ord = MatrixNorm(choice<MatrixNorm>(a.text("ord")));
  else if (!a.isNull("ord"))
    args.ord = a.number("ord");
  args.axis = Axes(a.integers("axis"));
  args.keepdims = a.flag("keepdims");
  return ops::norm(x, args);
}

} // namespace halftone::detail
