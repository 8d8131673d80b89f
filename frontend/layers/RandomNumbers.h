// Uniform random numbers inside a layer's call, from counter-based bits, so that nothing is stored and devices agree.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/SeedState.h"
#include "halftone/Ops.h"

namespace halftone::detail {

/// float32 in [0, 1), in steps of 2^-24, shifted by `offset` steps. Each call advances the state.
Value uniform(const Variable &state, const Shape &shape, double offset = 0.0);
/// float32 with mean 0 and deviation 1, by Box and Muller's method. Each call advances the state twice.
Value normal(const Variable &state, const Shape &shape);
/// x without a share `rate` of its elements, which are 0; the others are scaled by 1 / (1 - rate). `mask` is a shape that
/// broadcasts to that of x: elements with one index in it share their fate.
Value dropped(const Value &x, double rate, const Shape &mask, const Variable &state);

} // namespace halftone::detail
