// Loops and branches of a trace: user functions that fill the regions of an op.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <utility>

namespace halftone::detail {

/// The results of one loop step: the carries of the next step and, for a scan, the slices of its stacks.
struct LoopStep {
  std::vector<Value> carries, ys;
};

/// Returns the final carries and the stacks. Losses that the function adds are exported from the loop as stacks and
/// summed.
LoopStep scan(Trace &trace, const std::vector<Value> &inits, const std::vector<Value> &xs, int64_t length, bool reverse,
              const std::function<LoopStep(const Value &index, const std::vector<Value> &carries,
                                           const std::vector<Value> &slices)> &step);

/// Returns the first carries for which `condition` is false, or the carries after `maximum` steps.
std::vector<Value>
whileLoop(Trace &trace, const std::vector<Value> &inits, std::optional<int64_t> maximum,
          const std::function<Value(const std::vector<Value> &carries)> &condition,
          const std::function<std::vector<Value>(const Value &index, const std::vector<Value> &carries)> &body);

/// Returns the values of one of two functions, neither of which may add losses.
std::vector<Value> branch(Trace &trace, const Value &condition, const std::function<std::vector<Value>()> &then,
                          const std::function<std::vector<Value>()> &otherwise);

} // namespace halftone::detail
