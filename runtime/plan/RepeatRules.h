// The rules of a plan's repeats and of slots with strides that no order of steps decides.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Executable.h"
#include <cstdint>
#include <span>

namespace halftone {

/// The bytes that a slot stands for in some iterations, from its tensor's begin. Saturates.
struct SlotHull {
  int64_t begin = 0, end = 0;
  bool isCovered = true; // by the slices: no byte lies between two of them
};
/// In all iterations of the repeats from `level` on; `counts` are those of all repeats around. The offsets in the repeats
/// further out are left out.
SlotHull hullOf(const Slot &slot, std::span<const int64_t> counts, size_t level = 0);

/// value_error naming the step, unless repeats nest as Plan.h says, hold no collective and no part of a launch that
/// begins outside, and each slot stays in its tensor in all iterations; no result meets another slot of its launch in
/// an iteration if it does not in the first two and the last two.
Status checkRepeats(const Executable &executable);

} // namespace halftone
