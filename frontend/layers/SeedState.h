// The random state of a layer: a key that advances at each use and is never saved with the weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <optional>

namespace halftone::detail {

/// A (2,) uint32 variable: seed, count of uses.
Variable addSeedState(BuildContext &context, std::optional<int64_t> seed);
/// Returns the present key, for random_bits, and advances the state. Processes that share a batch have one state, and each
/// has keys of its own.
Value nextKey(const Variable &state);

} // namespace halftone::detail
