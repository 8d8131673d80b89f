// Rejection sampling of distributions: rounds of candidates, until every element has accepted one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Value.h"

namespace halftone::detail {

// Parameters have the shape of the draw, and float32 or float64.

/// A draw of the gamma distribution with scale 1 is `base` times the exponential of `logarithm`, which may be far below
/// 0 for an alpha below 1. NaN for a negative alpha.
struct GammaDraw {
  Value base, logarithm;
};
GammaDraw gammaDraw(const Value &key, const Value &alpha);
Value betaDraw(const Value &key, const Value &alpha, const Value &beta);
Value binomialDraw(const Value &key, const Value &counts, const Value &probabilities);

} // namespace halftone::detail
