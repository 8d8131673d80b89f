// Verifier rules for a plan's repeats and for slots with strides, apart from those that depend on the order of steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Executable.h"
#include <cstdint>
#include <span>

namespace halftone {

/// The byte range that a slot covers over some iterations, relative to the start of its tensor. Saturates.
struct SlotHull {
  int64_t begin = 0, end = 0;
  bool isCovered = true; // by the slices, without gaps
};
/// The hull over all iterations of the repeats from `level` on; `counts` are those of all enclosing repeats. Offsets of
/// the repeats outside of `level` are ignored.
SlotHull hullOf(const Slot &slot, std::span<const int64_t> counts, size_t level = 0);

/// value_error naming the step, unless repeats nest as Plan.h says, contain no collective and no part of a launch that
/// begins outside, and each slot stays within its tensor in all iterations. No result may overlap another slot of its
/// launch in any iteration if it does not in the first two and the last two.
Status checkRepeats(const Executable &executable);

} // namespace halftone
