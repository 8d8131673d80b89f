// Linear algebra on batches of matrices, named as in keras.ops.linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Ops.h"
#include <array>
#include <optional>

namespace halftone {
enum class QrMode : uint8_t { reduced, complete };
/// The Frobenius norm and the nuclear norm (the sum of the singular values).
enum class MatrixNorm : uint8_t { fro, nuc };
namespace detail {
template <> inline constexpr const char *choice_words<QrMode>[] = {"reduced", "complete"};
template <> inline constexpr const char *choice_words<MatrixNorm>[] = {"fro", "nuc"};
} // namespace detail

/// The order of a norm: a number, which may be infinite, or "fro" or "nuc".
class NormOrder {
public:
  template <class N>
    requires std::is_arithmetic_v<N>
  NormOrder(N number) : number_(static_cast<double>(number)) {}
  NormOrder(MatrixNorm word) : word_(word) {}
  template <size_t N> consteval NormOrder(const char (&word)[N]) : word_(Choice<MatrixNorm>(word)) {}
  double number() const { return number_; }
  const std::optional<Choice<MatrixNorm>> &word() const { return word_; } // none: the order is number()

private:
  double number_ = 0.0;
  std::optional<Choice<MatrixNorm>> word_{};
};

namespace ops {
// Matrices are the last two axes of a Value (..., m, n); the axes before them are the batch. Integers give floatx;
// floats narrower than float32 are computed in float32, and the result is rounded once. value_error for mismatched
// shapes. Elements are not inspected on the host: a matrix without a result gives NaN or infinities, as in Keras under
// jit. All functions except matrix_rank have gradients. eigh, svd and functions of singular values can be
// differentiated three times; the gradients of eigenvectors and singular vectors are infinite or NaN where eigenvalues
// or singular values are equal, as in Keras.

/// The lower triangular L of x = L L^T, or with `upper` its transpose. x is symmetrized, (x + x^T) / 2; NaN if it is
/// not positive definite.
HALFTONE_API Value cholesky(const Value &x, bool upper = false);
/// The inverse of a matrix from its Cholesky factor x.
HALFTONE_API Value cholesky_inverse(const Value &x, bool upper = false);
HALFTONE_API Value det(const Value &x);
HALFTONE_API Value inv(const Value &x);
/// The sign of the determinant, which is 0 if the determinant is 0, and the logarithm of its magnitude.
HALFTONE_API std::array<Value, 2> slogdet(const Value &x);
HALFTONE_API Value logdet(const Value &x);
/// The eigenvalues (..., m) in ascending order, and the eigenvectors, as columns, of a symmetric matrix. x is
/// symmetrized, (x + x^T) / 2.
HALFTONE_API std::array<Value, 2> eigh(const Value &x);
/// L, whose diagonal is 1, and U in one matrix, and the int32 pivots: step i exchanged the rows i and pivots[i].
HALFTONE_API std::array<Value, 2> lu_factor(const Value &x);
/// q and r of x = q r: (..., m, k) and (..., k, n), where k is min(m, n), or m for `complete`.
HALFTONE_API std::array<Value, 2> qr(const Value &x, const Choice<QrMode> &mode = QrMode::reduced);
/// The solution of a x = b, where b is (..., m) or (..., m, n).
HALFTONE_API Value solve(const Value &a, const Value &b);
/// solve() for a triangular matrix a, whose other triangle is not read.
HALFTONE_API Value solve_triangular(const Value &a, const Value &b, bool lower = false);
struct SvdArgs {
  bool full_matrices = true; // all columns of u and v; no gradient unless m = n
  bool compute_uv = true;
};
/// u, s and v^T of x = u diag(s) v^T, s descending; only s without `compute_uv`.
HALFTONE_API Values svd(const Value &x, const SvdArgs &args = {});
/// Minimum-norm least-squares solution of a x = b, for a single matrix a (m, n) and b (m,) or (m, k). Singular values
/// below rcond times the largest are treated as 0; rcond defaults to the dtype's epsilon times max(m, n).
HALFTONE_API Value lstsq(const Value &a, const Value &b, std::optional<double> rcond = {});
/// The int32 number of singular values above `tol`, which defaults to epsilon * max(m, n) times the largest.
HALFTONE_API Value matrix_rank(const Value &x, std::optional<double> tol = {});
/// The pseudoinverse (..., n, m). Singular values up to rcond times the largest are treated as 0; rcond defaults to 10
/// * epsilon * max(m, n).
HALFTONE_API Value pinv(const Value &x, std::optional<double> rcond = {});

struct NormArgs {
  std::optional<NormOrder> ord{};
  Axes axis{}; // one axis: vectors; two: matrices; none: all axes
  bool keepdims = false;
};
/// The norm of vectors (`ord` defaults to 2; also infinities, 0 for the number of nonzero elements, and other numbers)
/// or of matrices (`ord` defaults to "fro"; also "nuc", 1, -1, 2, -2 and infinities). Without `ord` and `axis`, the
/// 2-norm of all elements.
HALFTONE_API Value norm(const Value &x, const NormArgs &args = {});

namespace linalg {
using ops::cholesky, ops::cholesky_inverse, ops::det, ops::eigh, ops::inv, ops::lstsq, ops::lu_factor, ops::matrix_rank,
    ops::norm, ops::pinv, ops::qr, ops::solve, ops::solve_triangular, ops::svd;
} // namespace linalg
} // namespace ops
} // namespace halftone
