// Loops and branches of a trace: their functions fill the regions of one op.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <utility>

namespace halftone::detail {

/// What a step of a loop gives: the carries of the next step and, of a scan, the slices of its stacks.
struct LoopStep {
  std::vector<Value> carries, ys;
};

/// The last carries, and the stacks. Losses that the function adds leave as stacks, and are added up.
LoopStep scan(Trace &trace, const std::vector<Value> &inits, const std::vector<Value> &xs, int64_t length, bool reverse,
              const std::function<LoopStep(const Value &index, const std::vector<Value> &carries,
                                           const std::vector<Value> &slices)> &step);

/// The carries for which `condition` gives false, or those after `maximum` steps.
std::vector<Value>
whileLoop(Trace &trace, const std::vector<Value> &inits, std::optional<int64_t> maximum,
          const std::function<Value(const std::vector<Value> &carries)> &condition,
          const std::function<std::vector<Value>(const Value &index, const std::vector<Value> &carries)> &body);

/// The values of one of two functions, which add no losses.
std::vector<Value> branch(Trace &trace, const Value &condition, const std::function<std::vector<Value>()> &then,
                          const std::function<std::vector<Value>()> &otherwise);

} // namespace halftone::detail
