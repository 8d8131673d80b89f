// Counter-based random numbers from a key inside a layer's call; nothing is stored, and devices agree.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/SeedState.h"
#include "halftone/Ops.h"

namespace halftone::detail {

/// Random uint32 words. Streams of one key are disjoint.
Value randomWords(const Value &key, const Shape &shape, uint32_t stream = 0);
/// Fractions in [0, 1): float32 in steps of 2^-24, from one stream; float64 in steps of 2^-53, from two. They are
/// shifted by `offset` steps. Draw number `which` has its own streams.
Value uniform(const Value &key, const Shape &shape, double offset = 0.0, DType dtype = DType::float32,
              uint32_t which = 0);
/// Normally distributed float32 or float64 with mean 0 and standard deviation 1, by the Box-Muller method.
Value normal(const Value &key, const Shape &shape, DType dtype = DType::float32);
/// Like normal(), truncated to two standard deviations: the inverse distribution function of a uniform draw.
Value truncatedNormal(const Value &key, const Shape &shape, DType dtype = DType::float32);
/// float32 draws from the standard Gumbel distribution, -log(-log(u)).
Value gumbel(const Value &key, const Shape &shape);
/// Dropout of x: a fraction `rate` of its elements is set to 0, and the others are scaled by 1 / (1 - rate). `mask` is
/// a shape that broadcasts to that of x: elements with the same index in it are dropped together.
Value dropped(const Value &x, double rate, const Shape &mask, const Value &key);

} // namespace halftone::detail
