// A chart of a plan's arena: which bytes are live at which launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/plan/Executable.h"
#include <cstdint>
#include <string>
#include <vector>

namespace halftone::detail {

/// The bytes of a value in the arena, from the step that first writes them to the step that last uses them. Steps are
/// numbered as the device sees them: all parts of one launch are one step.
struct ArenaSpan {
  SlotId slot = -1;
  int64_t offset = 0, bytes = 0;
  int64_t first = 0, last = 0;
  size_t writer = 0; // index of the first writing step in the plan
};
/// The spans of all arena slots in use. No two spans share bytes at the same time.
std::vector<ArenaSpan> arenaSpans(const Plan &plan);

/// An <svg> element: launches from left to right, addresses from bottom to top.
std::string arenaSvg(const Executable &executable);

} // namespace halftone::detail
