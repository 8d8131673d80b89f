// The discrete Fourier transform of rows of complex numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"

namespace halftone::detail {

/// Real and imaginary parts (rows, n) in float32 or float64; without an imaginary part the values are real.
struct ComplexRows {
  Value re, im;
};
/// The sums over j of x[j] exp(-2 pi i j k / n), or, with `inverse`, of x[j] exp(2 pi i j k / n), not divided by n.
ComplexRows fourierTransform(const ComplexRows &x, bool inverse);

} // namespace halftone::detail
