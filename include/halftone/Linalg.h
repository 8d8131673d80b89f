// Linear algebra on batches of matrices, named as in keras.ops.linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Ops.h"
#include <array>
#include <optional>

namespace halftone {
enum class QrMode : uint8_t { reduced, complete };
/// The root of the sum of all squares, and the sum of the singular values.
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
  const std::optional<Choice<MatrixNorm>> &word() const { return word_; } // none: it is the number

private:
  double number_ = 0.0;
  std::optional<Choice<MatrixNorm>> word_{};
};

namespace ops {
// Matrices are the last two axes of a Value (..., m, n); the axes before them are the batch. Integers give floatx; narrower floats
// are computed in float32, and the result is rounded once. value_error for shapes that do not fit. Nothing here reads elements on the
// host: a matrix for which there is no result gives NaN or infinities, as in Keras under jit. All functions but matrix_rank
// have gradients. eigh, svd and functions of singular values may be differentiated three times; the gradients of eigenvectors and
// singular vectors are infinite or NaN where values are equal, as in Keras.

/// The lower triangular L of x = L L^T, or its transpose. x counts as (x + x^T) / 2; it gives NaN if it is not positive definite.
HALFTONE_API Value cholesky(const Value &x, bool upper = false);
/// The inverse of a matrix by its Cholesky factor.
HALFTONE_API Value cholesky_inverse(const Value &x, bool upper = false);
HALFTONE_API Value det(const Value &x);
HALFTONE_API Value inv(const Value &x);
/// The determinant's sign, 0 if it is 0, and the logarithm of its magnitude.
HALFTONE_API std::array<Value, 2> slogdet(const Value &x);
HALFTONE_API Value logdet(const Value &x);
/// The eigenvalues (..., m), ascending, and the eigenvectors, which are columns, of a symmetric matrix: x counts as (x + x^T) / 2.
HALFTONE_API std::array<Value, 2> eigh(const Value &x);
/// L and U in one matrix, the diagonal of L being 1, and the pivots, int32: step i exchanged the rows i and pivots[i].
HALFTONE_API std::array<Value, 2> lu_factor(const Value &x);
/// q and r of x = q r: (..., m, k) and (..., k, n), where k is the lesser of m and n, or m if it is `complete`.
HALFTONE_API std::array<Value, 2> qr(const Value &x, const Choice<QrMode> &mode = QrMode::reduced);
/// The solution of a x = b, where b is (..., m) or (..., m, n).
HALFTONE_API Value solve(const Value &a, const Value &b);
/// The same for a triangular matrix, whose other triangle is not read.
HALFTONE_API Value solve_triangular(const Value &a, const Value &b, bool lower = false);
struct SvdArgs {
  bool full_matrices = true; // all columns of u and v; without a gradient unless m = n
  bool compute_uv = true;
};
/// u, s and v^T of x = u diag(s) v^T, s descending; s alone without `compute_uv`.
HALFTONE_API Values svd(const Value &x, const SvdArgs &args = {});
/// The least x, by its norm, that minimizes the norm of a x - b, of one matrix (m, n) and b of (m) or (m, k). Singular values below
/// rcond times the largest count as 0; by default the dtype's epsilon times the larger of m and n.
HALFTONE_API Value lstsq(const Value &a, const Value &b, std::optional<double> rcond = {});
/// How many singular values are larger than `tol`: int32. By default epsilon times the larger of m and n times the largest.
HALFTONE_API Value matrix_rank(const Value &x, std::optional<double> tol = {});
/// The pseudoinverse (..., n, m). Singular values up to rcond times the largest count as 0; by default ten times epsilon times the
/// larger of m and n.
HALFTONE_API Value pinv(const Value &x, std::optional<double> rcond = {});

struct NormArgs {
  std::optional<NormOrder> ord{};
  Axes axis{}; // one: vectors; two: matrices; none: all axes
  bool keepdims = false;
};
/// The norm of vectors (2 if there is no `ord`; infinities; 0, the count of elements other than 0; others) or of matrices ("fro" if
/// there is none; "nuc"; 1, -1, 2, -2 and infinities), or without `ord` and `axis` the root of the sum of all squares.
HALFTONE_API Value norm(const Value &x, const NormArgs &args = {});

namespace linalg {
using ops::cholesky, ops::cholesky_inverse, ops::det, ops::eigh, ops::inv, ops::lstsq, ops::lu_factor, ops::matrix_rank,
    ops::norm, ops::pinv, ops::qr, ops::solve, ops::solve_triangular, ops::svd;
} // namespace linalg
} // namespace ops
} // namespace halftone
