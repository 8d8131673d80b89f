// The count of changes to settings that traces read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace halftone {
/// How often a setting that decides a trace has changed: floatx, an entry of a policy map, the policy, the trainable flag
/// or the weights of a layer. It is part of a program's key, so that no program is played under a setting that it was not
/// compiled for. All threads share it.
uint64_t configurationChanges();
/// Counts one more change. The caller has made the change before, so that a program that is compiled for the new count has
/// seen it.
void bumpConfigurationEpoch();
} // namespace halftone
