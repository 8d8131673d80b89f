// Seeds for layers, initializers and shuffles whose user gave none.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace halftone::detail {

/// The next of the process's sequence of seeds: from set_random_seed(), else from the machine's entropy.
int64_t nextSeed();

} // namespace halftone::detail
