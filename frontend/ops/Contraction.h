// Contraction of two values of one dtype.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"

namespace halftone::detail {

/// The promoted dtype of both.
DType promoted(const Value &a, const Value &b);

/// The contraction of two values of one dtype. Integers are accumulated in 32 or 64 bits with wrapping, and the result
/// has that dtype.
Value contractOne(const Value &a, const Value &b, const Trace::ContractAxes &axes);

} // namespace halftone::detail
