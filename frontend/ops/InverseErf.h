// The inverse error function between -0.96 and 0.96, where a single polynomial suffices.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Value.h"

namespace halftone::detail {

/// For |t| < 0.96, in float32 or float64: Giles, "Approximating the erfinv function" (2012), in single precision. One
/// Newton step refines it to double precision.
Value centralInverseErf(const Value &t);

} // namespace halftone::detail
