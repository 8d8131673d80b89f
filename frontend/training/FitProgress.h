// The progress of a fit(), for the checkpoints that its callbacks write.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/training/BatchStep.h"
#include "frontend/training/DataPosition.h"
#include "frontend/training/FitData.h"
#include <memory>
#include <thread>

namespace halftone::detail {

/// While it exists, checkpoints of the model written on its thread include the run's position in the data.
class FitProgress {
public:
  FitProgress(const Run &run, const FitData &data, EpochReader &reader);
  ~FitProgress();
  FitProgress(const FitProgress &) = delete;
  /// The position of this thread's innermost run of the model; nullopt if there is none.
  static std::optional<DataPosition> positionOf(const Model &model);

  /// Resumes from the position in the checkpoint restored last: in `on_train_begin` of a callback (`isRestored`), or
  /// before a fit() with these arguments. The reader then continues there. value_error if a position within an epoch
  /// does not match the data, or if `initial_batch` continues from a position that is in no checkpoint.
  void resume(const FitArgs &args, bool isRestored);
  /// The logs of the last step of the restored run, if `epoch` is the epoch that the run had begun.
  std::optional<Logs> logsOfBegun(int64_t epoch) const;
  /// Call it before each step. Before the first step of an epoch that the restored run had begun, restores the sums of
  /// the metrics.
  void beforeStep(const BatchPart &part);
  void stepped(int64_t step, const Logs &logs);
  void epochEnded() {
    batch_ = 0;
    areMetricsDue_ = false; // also if no step was left in the epoch
  }

private:
  const Run &run_;
  EpochReader &reader_;
  ShuffleCounts shuffles_;
  std::thread::id thread_ = std::this_thread::get_id();
  FitProgress *outer_; // of the same model, shadowed by this one
  int64_t batch_ = 0;  // steps of the epoch
  Logs logs_;          // of the last step
  std::optional<DataPosition> resumed_;
  bool areMetricsDue_ = false;
};

} // namespace halftone::detail
