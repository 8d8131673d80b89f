// Symmetric eigenvalues and singular values by Jacobi rotations.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"

namespace halftone::detail {

// Matrices are floats (batch, m, n) in float32 or float64. A sweep rotates every pair of columns once, n / 2 disjoint
// pairs at a time. Sweeps repeat until no pair of any matrix in the batch needs a rotation, at most 30 times. Results
// of a matrix with a non-finite element are NaN.

/// a v = v diag(w), w ascending: `values` (batch, n) and `vectors` (batch, n, n) of symmetric matrices.
struct Eigen {
  Value values, vectors;
};
Eigen symmetricEigen(const Value &a);

/// a = u diag(s) v^T for m >= n, s descending: u (batch, m, n), or (batch, m, m) if `complete`; s (batch, n); v (batch,
/// n, n). Small singular values are as accurate as the QR factors from which they are computed.
struct Singular {
  Value u, s, v;
};
Singular singularValues(const Value &a, bool complete);

} // namespace halftone::detail
