// Determinants of batches of matrices.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <array>

namespace halftone::detail {

/// The determinants (batch) of matrices (batch, n, n). The gradient is that by cofactors, also where the rank is n - 1.
Value determinantOf(const Value &a);
/// The signs, and the logarithms of the magnitudes.
std::array<Value, 2> signAndLogOf(const Value &a);

} // namespace halftone::detail
