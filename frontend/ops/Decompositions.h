// Batched matrix factorizations with closed-form gradients, as in JAX.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/ops/Factorizations.h"
#include "frontend/ops/Rotations.h"

namespace halftone::detail {

// As in Factorizations.h and Rotations.h, matrices are floats (batch, m, n) in float32 or float64. Second derivatives
// are those of the loops over columns. For eigenvalues and singular values, derivatives up to the third order have
// closed forms.

/// The Cholesky factor L of the symmetric `a`.
Value choleskyOf(const Value &a);
LuFactors luOf(const Value &a);
/// Solves a x = b for x with the factors of a.
Value solutionOf(const Value &a, const Value &b, const LuFactors &factors);
Value triangularSolutionOf(const Value &a, const Value &b, bool lower);
std::array<Value, 2> qrOf(const Value &a, bool complete);
Eigen eighOf(const Value &a);
/// The singular value decomposition u, s and v, for any m and n.
Singular svdOf(const Value &a, bool complete);
/// The pseudoinverse from the thin u, s and v, restricted to singular values for which `counts` is true.
Value pseudoinverseOf(const Value &a, const Singular &svd, const Value &counts);
/// The cotangent of `a`, given that of its pseudoinverse p.
Value pseudoinverseGradient(const Value &a, const Value &p, const Value &upstream);

} // namespace halftone::detail
