// Eigenvalues of symmetric matrices and singular values by Jacobi's rotations.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"

namespace halftone::detail {

// Matrices are floats (batch, m, n) in float32 or float64. A sweep rotates every pair of columns once, n / 2 disjoint pairs at
// a time; sweeps follow until no pair of any matrix of the batch needs a rotation, and 30 of them at most. Results of a matrix
// with an element that is not finite are NaN.

/// a v = v diag(w), w ascending: `values` (batch, n) and `vectors` (batch, n, n) of symmetric matrices.
struct Eigen {
  Value values, vectors;
};
Eigen symmetricEigen(const Value &a);

/// a = u diag(s) v^T for m >= n, s descending: u (batch, m, n), or (batch, m, m) if `complete`; s (batch, n); v (batch, n, n).
/// The smallest singular values are as exact as QR makes them.
struct Singular {
  Value u, s, v;
};
Singular singularValues(const Value &a, bool complete);

} // namespace halftone::detail
