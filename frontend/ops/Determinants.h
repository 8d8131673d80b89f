// Batched determinants.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <array>

namespace halftone::detail {

/// The determinants (batch) of matrices (batch, n, n). The gradient is computed by cofactors, and is also correct for
/// rank n - 1.
Value determinantOf(const Value &a);
/// The signs and the logarithms of the magnitudes of the determinants.
std::array<Value, 2> signAndLogOf(const Value &a);

} // namespace halftone::detail
