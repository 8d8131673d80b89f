// Factorizations of batches of matrices, and systems with triangular matrices, as loops over rows and columns.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <array>

namespace halftone::detail {

// All matrices are floats (batch, m, n) in float32 or float64. The functions compute for all of a batch at once, and are ordinary
// ops, whose gradients are those of the ops: frontend/ops/Linalg.cpp gives them gradients in closed form.

/// The transpose of each matrix.
Value matrixTranspose(const Value &x);
/// int32 places along `axis` of a matrix of this shape, to compare.
Value placesAlong(int64_t axis, const Value &like);
/// x where the predicate holds between the row and the column of an element, else 0: `ge` keeps the lower triangle.
Value triangleOf(const Value &x, ComparePredicate rowToColumn);
/// (batch, n, m) with each identity.
Value identityLike(const Value &x, int64_t rows, int64_t columns);
/// The elements (batch, k) on the diagonals.
Value diagonalOf(const Value &x);
/// NaN in place of all elements of x (batch, ...) for which `holds` (batch) is false.
Value nanUnless(const Value &holds, const Value &x);
/// Whether all elements of each matrix are finite: (batch).
Value areFinite(const Value &x);

/// LAPACK's getrf: `lu` holds U, and below the diagonal L, whose diagonal is 1. Step i exchanged the rows i and pivots[i]; row i
/// of L U is row order[i] of the matrix.
struct LuFactors {
  Value lu, pivots, order;
};
LuFactors luFactors(const Value &a);
/// L of a = L L^T by the lower triangle. NaN if the matrix is not positive definite.
Value choleskyFactor(const Value &a);
/// x of a x = b, where `a` (batch, m, m) counts as triangular: the other triangle is not read.
enum class Triangle : uint8_t { lower, unitLower, upper };
Value triangularSolution(const Value &a, const Value &b, Triangle triangle);
/// x of a x = b by the factors of a.
Value solutionBy(const LuFactors &factors, const Value &b);
/// x of a^T x = b by the factors of a.
Value transposedSolutionBy(const LuFactors &factors, const Value &b);
/// LAPACK's geqrf and orgqr: q (batch, m, k) and r (batch, k, n), where k is m if `complete`, else the lesser of m and n.
std::array<Value, 2> qrFactors(const Value &a, bool complete);

} // namespace halftone::detail
