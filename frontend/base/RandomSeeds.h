// Default seeds of layers, initializers and shuffles.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <random>

namespace halftone::detail {

/// The next seed of the process-wide sequence, which set_random_seed() or the machine's entropy starts.
int64_t nextSeed();
/// Gets the state of that sequence, and continues it from another state.
std::mt19937_64 seedSequence();
void setSeedSequence(const std::mt19937_64 &state);

} // namespace halftone::detail
