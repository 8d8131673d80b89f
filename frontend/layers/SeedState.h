// The states of random draws: keys that advance at each use and are never saved with the weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/RandomRules.h"
#include "halftone/Layer.h"
#include <optional>

namespace halftone::detail {

struct LayerImpl;

/// A (2,) uint32 constant.
Value keyConstant(const KeyWords &words);
/// A (2,) uint32 variable: seed, count of uses.
Variable addSeedState(BuildContext &context, std::optional<int64_t> seed);
/// The same without a layer. Its path is its name until a layer keeps it.
Variable makeSeedState(const KeyWords &words);
/// Lets the layer keep a state of makeSeedState(), which gets the layer's path, unless a layer keeps it already. It takes the
/// place of an awaited state, with its value. A call that fails takes all of this back.
void keepSeedState(LayerImpl &layer, const Variable &state);
/// The state of the draws of this layer's call() that name no seed.
Variable ownSeedState(LayerImpl &layer);
/// Adds a state for a draw of a user's layer that is still to come, to which the reader of a file gives a value.
void awaitSeedState(LayerImpl &layer);
/// How many states the layer keeps.
int64_t countSeedStates(const LayerImpl &layer);

/// Returns the present key, for random_bits, and advances the state. Processes that share a batch have one state, and each
/// has keys of its own.
Value nextKey(const Variable &state);
/// The key of a seed that is a number; processes that share a batch have keys of their own here too.
Value fixedKey(const KeyWords &words);

} // namespace halftone::detail
