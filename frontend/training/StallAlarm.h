// The alarm of a fit whose loss scaling skips step after step.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Optimizers.h"
#include "halftone/Tensor.h"
#include <optional>

namespace halftone::detail {

/// Warns once if loss scaling skips so many steps in a row that the model learns nothing.
class StallAlarm {
public:
  explicit StallAlarm(const Optimizer &optimizer);
  /// `skipped` is the word in which the step counts skipped steps; it is on the step's device.
  void stepped(int64_t epoch, int64_t step, const Tensor &skipped);
  /// Looks at the word of the last step if the step has run. Never waits.
  void look();

private:
  std::optional<optimizers::LossScaleOptimizer> optimizer_; // empty after the warning
  struct Newest {
    int64_t epoch = 0, step = 0;
    Tensor skipped; // undefined after look() has read it
  } newest_;
};

} // namespace halftone::detail
