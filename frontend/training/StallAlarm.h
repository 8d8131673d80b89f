// The warning about a fit whose loss scaling skips many consecutive steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Optimizers.h"
#include "halftone/Tensor.h"
#include <optional>

namespace halftone::detail {

/// Warns once if loss scaling skips so many consecutive steps that the model learns nothing.
class StallAlarm {
public:
  explicit StallAlarm(const Optimizer &optimizer);
  /// `skipped` is the step's counter word of skipped steps, on the step's device.
  void stepped(int64_t epoch, int64_t step, const Tensor &skipped);
  /// Reads the counter word of the last step if the step has completed. Never waits.
  void look();

private:
  std::optional<optimizers::LossScaleOptimizer> optimizer_; // empty after the warning
  struct Newest {
    int64_t epoch = 0, step = 0;
    Tensor skipped; // undefined after look() has read it
  } newest_;
};

} // namespace halftone::detail
