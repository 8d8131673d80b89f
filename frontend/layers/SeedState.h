// Random states: keys that advance at each use and are never saved with the weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/RandomRules.h"
#include "halftone/Layer.h"
#include <optional>

namespace halftone::detail {

struct LayerImpl;

/// A (2,) uint32 constant.
Value keyConstant(const KeyWords &words);
/// A (2,) uint32 variable: seed, number of uses.
Variable addSeedState(BuildContext &context, std::optional<int64_t> seed);
/// Like addSeedState(), without a layer. Its path is its name until a layer owns it.
Variable makeSeedState(const KeyWords &words);
/// Makes the layer own a state of makeSeedState(), which gets the layer's path, unless a layer already owns it. The
/// state replaces an awaited state, if there is one, and takes its value. A failed call undoes all of this.
void keepSeedState(LayerImpl &layer, const Variable &state);
/// The state of draws without a seed in this layer's call().
Variable ownSeedState(LayerImpl &layer);
/// Adds a state for a future draw of a user's layer, whose value the reader of a file sets.
void awaitSeedState(LayerImpl &layer);
/// The number of states that the layer owns.
int64_t countSeedStates(const LayerImpl &layer);

/// Returns the current key, for random_bits, and advances the state. Processes that share a batch share the state, but
/// each has its own keys.
Value nextKey(const Variable &state);
/// The key of a numeric seed; processes that share a batch have their own keys here too.
Value fixedKey(const KeyWords &words);

} // namespace halftone::detail
