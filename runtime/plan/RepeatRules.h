// Verifier rules for a plan's repeats and for slots with strides, apart from those that depend on the order of steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Executable.h"
#include <cstdint>
#include <span>

namespace halftone {

/// The byte range that a slot covers over some iterations, relative to the start of its tensor. Offsets saturate.
struct SlotHull {
  int64_t begin = 0, end = 0;
  bool isCovered = true; // true if the slices leave no gaps
};
/// Returns the hull over all iterations of the repeats from `level` on; `counts` are those of all enclosing repeats.
/// Strides of the repeats outside of `level` are ignored.
SlotHull hullOf(const Slot &slot, std::span<const int64_t> counts, size_t level = 0);

/// value_error naming the slot or step, unless
/// - repeats nest as Plan.h says, and contain no collective and no part of a launch that begins outside;
/// - each slot stays within its tensor in all iterations;
/// - in a repeat, the bytes of a result over all iterations overlap those of no other slot of its launch or copy. Two
///   slots that move alike are exempt: verify() finds their overlaps in the first two iterations.
Status checkRepeats(const Executable &executable);

} // namespace halftone
