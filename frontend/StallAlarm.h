// The alarm of a fit whose loss scaling skips step after step.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Optimizers.h"
#include "halftone/Tensor.h"
#include <optional>

namespace halftone::detail {

/// Says once that nothing is learnt any more because step after step is skipped.
class StallAlarm {
public:
  explicit StallAlarm(const Optimizer &optimizer);
  /// `skipped` is the step's word of skipped steps, where that step runs.
  void stepped(int64_t epoch, int64_t step, const Tensor &skipped);
  /// At what the last step gave, if it has run; never waits.
  void look();

private:
  std::optional<optimizers::LossScaleOptimizer> optimizer_; // empty once it was said
  struct Newest {
    int64_t epoch = 0, step = 0;
    Tensor skipped; // undefined once it was looked at
  } newest_;
};

} // namespace halftone::detail
