// The configuration epoch: a counter of changes to settings that traces read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace halftone {
/// The number of changes to settings that affect a trace: floatx, an entry of a policy map, the policy, the trainable
/// flag or the weights of a layer. It is part of a program's key, so no program is played under settings for which it
/// was not compiled. All threads share it.
uint64_t configurationChanges();
/// Counts one more change. Call it after the change, so that a program compiled for the new count has seen it.
void bumpConfigurationEpoch();
} // namespace halftone
