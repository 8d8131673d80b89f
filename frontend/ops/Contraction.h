// Sums of products of two values of one dtype.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"

namespace halftone::detail {

/// The dtype in which operations on both compute.
DType promoted(const Value &a, const Value &b);

/// The contraction of two values of one dtype. Of integers the sums are made in 32 bits or in 64, which wrap, and have
/// that dtype.
Value contractOne(const Value &a, const Value &b, const Trace::ContractAxes &axes);

} // namespace halftone::detail
