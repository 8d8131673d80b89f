// How far a fit() has come, for the checkpoints that its callbacks write.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/training/BatchStep.h"
#include "frontend/training/FitData.h"
#include "frontend/training/PlaceInData.h"
#include <memory>
#include <thread>

namespace halftone::detail {

/// While it exists, checkpoints of the model that are written on its thread have the run's place.
class FitProgress {
public:
  FitProgress(const Run &run, const FitData &data, EpochReader &reader);
  ~FitProgress();
  FitProgress(const FitProgress &) = delete;
  /// The place of this thread's innermost run of the model; nullopt without one.
  static std::optional<PlaceInData> placeOf(const Model &model);

  /// Takes the place of the checkpoint that was restored last: in `on_train_begin` of a callback (`isRestored`), or before a
  /// fit() with these arguments. Afterwards the reader goes on there. value_error if a place within an epoch does not fit the data,
  /// or if `initial_batch` goes on from a place that no checkpoint has given.
  void resume(const FitArgs &args, bool isRestored);
  /// Whether the epoch goes on that the restored run had begun, with the logs of its last step.
  std::optional<Logs> logsOfBegun(int64_t epoch) const;
  /// Before a step: the sums of the metrics go on, in the first step of such an epoch.
  void beforeStep(const BatchPart &part);
  void stepped(int64_t step, const Logs &logs);
  void epochEnded() {
    batch_ = 0;
    areMetricsDue_ = false; // of an epoch whose steps were all done
  }

private:
  const Run &run_;
  EpochReader &reader_;
  ShuffleCounts shuffles_;
  std::thread::id thread_ = std::this_thread::get_id();
  FitProgress *outer_; // of the model, which this one hides
  int64_t batch_ = 0;  // steps of the epoch
  Logs logs_;          // of the last one
  std::optional<PlaceInData> resumed_;
  bool areMetricsDue_ = false;
};

} // namespace halftone::detail
