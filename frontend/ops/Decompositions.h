// Factorizations of batches of matrices with gradients in closed form, as JAX has them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/ops/Factorizations.h"
#include "frontend/ops/Rotations.h"

namespace halftone::detail {

// As in Factorizations.h and Rotations.h, matrices are floats (batch, m, n) in float32 or float64. A second derivative is that of
// the loops over columns; of eigenvalues and singular values, three orders of derivatives are in closed form.

/// L of the symmetric `a`.
Value choleskyOf(const Value &a);
LuFactors luOf(const Value &a);
/// x of a x = b by the factors of a.
Value solutionOf(const Value &a, const Value &b, const LuFactors &factors);
Value triangularSolutionOf(const Value &a, const Value &b, bool lower);
std::array<Value, 2> qrOf(const Value &a, bool complete);
Eigen eighOf(const Value &a);
/// Whatever the greater of m and n: u, s and v.
Singular svdOf(const Value &a, bool complete);
/// The pseudoinverse by the thin u, s and v, where only singular values count for which `counts` is true.
Value pseudoinverseOf(const Value &a, const Singular &svd, const Value &counts);
/// What the cotangent of the pseudoinverse p of `a` says about a.
Value pseudoinverseGradient(const Value &a, const Value &p, const Value &upstream);

} // namespace halftone::detail
