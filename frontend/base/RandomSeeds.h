// Seeds for layers, initializers and shuffles whose user gave none.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <random>

namespace halftone::detail {

/// The next of the process's sequence of seeds: from set_random_seed(), else from the machine's entropy.
int64_t nextSeed();
/// The state of that sequence, and its continuation from another state.
std::mt19937_64 seedSequence();
void setSeedSequence(const std::mt19937_64 &state);

} // namespace halftone::detail
