// The inverse error function between -0.96 and 0.96, where one polynomial serves.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Value.h"

namespace halftone::detail {

/// Of |t| < 0.96, in float32 or float64: Giles, "Approximating the erfinv function" (2012), in single precision. A step of
/// Newton's method makes it one of double precision.
Value centralInverseErf(const Value &t);

} // namespace halftone::detail
