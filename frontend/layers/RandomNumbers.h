// Random numbers of a key inside a layer's call, from counter-based bits, so that nothing is stored and devices agree.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/SeedState.h"
#include "halftone/Ops.h"

namespace halftone::detail {

/// uint32 words. Streams of one key have no word in common.
Value randomWords(const Value &key, const Shape &shape, uint32_t stream = 0);
/// Fractions in [0, 1): in float32 by steps of 2^-24, of one stream; in float64 by steps of 2^-53, of two. They are shifted by
/// `offset` steps. The draw with number `which` has streams of its own.
Value uniform(const Value &key, const Shape &shape, double offset = 0.0, DType dtype = DType::float32,
              uint32_t which = 0);
/// float32 or float64 with mean 0 and deviation 1, by Box and Muller's method.
Value normal(const Value &key, const Shape &shape, DType dtype = DType::float32);
/// The same within two deviations: the inverse of the distribution at a uniform draw.
Value truncatedNormal(const Value &key, const Shape &shape, DType dtype = DType::float32);
/// float32 of the standard Gumbel distribution, -log(-log(u)).
Value gumbel(const Value &key, const Shape &shape);
/// x without a share `rate` of its elements, which are 0; the others are scaled by 1 / (1 - rate). `mask` is a shape that
/// broadcasts to that of x: elements with one index in it share their fate.
Value dropped(const Value &x, double rate, const Shape &mask, const Value &key);

} // namespace halftone::detail
