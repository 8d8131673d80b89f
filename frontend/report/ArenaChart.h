// A chart of a plan's arena: which bytes hold a value at which launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/plan/Executable.h"
#include <cstdint>
#include <string>
#include <vector>

namespace halftone::detail {

/// A value's bytes in the arena, from the step that first writes them to the last step that uses them. Steps count as
/// the device sees them: the parts of one launch are one step.
struct ArenaSpan {
  SlotId slot = -1;
  int64_t offset = 0, bytes = 0;
  int64_t first = 0, last = 0;
  size_t writer = 0; // position of the first writing step in the plan
};
/// The spans of all arena slots that steps use, each range of bytes and time once.
std::vector<ArenaSpan> arenaSpans(const Plan &plan);

/// An <svg> element: launches from left to right, addresses from bottom to top.
std::string arenaSvg(const Executable &executable);

} // namespace halftone::detail
