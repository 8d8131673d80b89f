// Reads the counter words of skipped steps as they arrive.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/StallAlarm.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "runtime/TensorAccess.h"
#include <fmt/format.h>
#include <utility>

namespace halftone::detail {

StallAlarm::StallAlarm(const Optimizer &optimizer) {
  if (isLossScaleOptimizer(optimizer))
    optimizer_ = asLossScaleOptimizer(optimizer);
}
void StallAlarm::stepped(int64_t epoch, int64_t step, const Tensor &skipped) {
  if (!optimizer_)
    return;
  newest_ = {epoch, step, skipped};
  if (TensorAccess::device(skipped) == nullptr)
    look();
}
void StallAlarm::look() {
  if (!optimizer_ || !newest_.skipped.defined() || !TensorAccess::isReady(newest_.skipped))
    return;
  const Newest seen = std::exchange(newest_, {});
  if (!isStalled(*optimizer_, seen.skipped.item<int64_t>()))
    return;
  const optimizers::LossScaleState state = optimizer_->state();
  writeOutput(fmt::format("\nwarning: loss scaling skipped {} steps in a row, up to step {} of epoch {}: their "
                          "gradients were not finite (in the last step, first that of '{}'), and the weights have not "
                          "changed since. The loss scale is now {}. Look for infinities and NaN in the data, the "
                          "loss and the weights.\n",
                          state.stalled_steps, seen.step + 1, seen.epoch + 1, state.last_fault, state.scale));
  optimizer_.reset();
}

} // namespace halftone::detail
