// The random state of a layer: a key that advances at each use, never saved with the weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <optional>

namespace halftone::detail {

/// A (2,) uint32 variable: seed, count of uses.
Variable addSeedState(BuildContext &context, std::optional<int64_t> seed);
/// The present key, as random_bits takes it; the state is advanced.
Value nextKey(const Variable &state);

} // namespace halftone::detail
