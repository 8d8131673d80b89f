// Batched matrix factorizations and triangular systems, as loops over rows and columns.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <array>

namespace halftone::detail {

// All matrices are floats (batch, m, n) in float32 or float64. The functions process a whole batch at once. They
// consist of ordinary ops and have their gradients; frontend/ops/Decompositions.cpp attaches closed-form gradients.

/// The transpose of each matrix.
Value matrixTranspose(const Value &x);
/// int32 indices along `axis` of a matrix of this shape, for comparisons.
Value indicesAlong(int64_t axis, const Value &like);
/// The elements of x for which the predicate holds between row and column index, otherwise 0: `ge` keeps the lower
/// triangle.
Value triangleOf(const Value &x, ComparePredicate rowToColumn);
/// Identity matrices (batch, rows, columns).
Value identityLike(const Value &x, int64_t rows, int64_t columns);
/// The elements (batch, k) on the diagonals.
Value diagonalOf(const Value &x);
/// Replaces all elements of x (batch, ...) for which `holds` (batch) is false by NaN.
Value nanUnless(const Value &holds, const Value &x);
/// Whether all elements of each matrix are finite: (batch).
Value areFinite(const Value &x);

/// As LAPACK's getrf: `lu` holds U and, below the diagonal, L, whose diagonal is 1. Step i swapped rows i and
/// pivots[i]; row i of L U is row order[i] of the matrix.
struct LuFactors {
  Value lu, pivots, order;
};
LuFactors luFactors(const Value &a);
/// L of a = L L^T, computed from the lower triangle. NaN if the matrix is not positive definite.
Value choleskyFactor(const Value &a);
/// Solves a x = b for x, where `a` (batch, m, m) is treated as triangular: the other triangle is not read.
enum class Triangle : uint8_t { lower, unitLower, upper };
Value triangularSolution(const Value &a, const Value &b, Triangle triangle);
/// Solves a x = b for x with the factors of a.
Value solutionBy(const LuFactors &factors, const Value &b);
/// Solves a^T x = b for x with the factors of a.
Value transposedSolutionBy(const LuFactors &factors, const Value &b);
/// As LAPACK's geqrf and orgqr: q (batch, m, k) and r (batch, k, n), where k is m if `complete`, otherwise the minimum
/// of m and n.
std::array<Value, 2> qrFactors(const Value &a, bool complete);

} // namespace halftone::detail
