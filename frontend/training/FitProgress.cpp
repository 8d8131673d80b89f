// Provides checkpoints with the position of a run in its data, and resumes runs from checkpoints.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/FitProgress.h"
#include "frontend/training/ModelState.h"
#include "halftone/Error.h"
#include "runtime/base/ForkGate.h"
#include <fmt/format.h>

namespace halftone::detail {

FitProgress::FitProgress(const Run &run, const FitData &data, EpochReader &reader)
    : run_(run), reader_(reader), shuffles_(data.train.shuffles()) {
  if (data.validation)
    for (const auto &count : data.validation->shuffles())
      shuffles_.push_back(count);
  ModelState &state = stateOf(run.model);
  const ForkSafeLock lock(state.mutex);
  outer_ = std::exchange(state.progress, this);
}
FitProgress::~FitProgress() {
  ModelState &state = stateOf(run_.model);
  const ForkSafeLock lock(state.mutex);
  FitProgress **link = &state.progress; // runs on several threads end in any order
  while (*link != this)
    link = &(*link)->outer_;
  *link = outer_;
}

std::optional<DataPosition> FitProgress::positionOf(const Model &model) {
  ModelState &state = stateOf(model);
  const FitProgress *progress = nullptr;
  {
    const ForkSafeLock lock(state.mutex);
    progress = state.progress;
    while (progress && progress->thread_ != std::this_thread::get_id())
      progress = progress->outer_;
  }
  if (!progress)
    return std::nullopt;
  DataPosition position{.epoch = state.finishedEpochs, .batch = progress->batch_, .pass = progress->reader_.position()};
  position.pass.isOpen &= position.batch > 0 || progress->reader_.continuesPass();
  for (const auto &count : progress->shuffles_)
    position.counts.push_back(*count);
  if (position.batch > 0) {
    position.metrics = metricSums(progress->run_);
    position.logs.assign(progress->logs_.begin(), progress->logs_.end());
  }
  return position;
}

void FitProgress::resume(const FitArgs &args, bool isRestored) {
  ModelState &state = stateOf(run_.model);
  std::shared_ptr<const DataPosition> position;
  {
    const ForkSafeLock lock(state.mutex);
    position = std::move(state.restoredPosition);
  }
  const bool isMeant =
      position && (isRestored || (position->epoch == args.initial_epoch && position->batch == args.initial_batch));
  if (!isMeant && args.initial_batch > 0)
    throw Error(ErrorKind::value_error,
                fmt::format("initial_batch={} must match the `epoch` and `batch` of a restored Checkpoint; {}",
                            args.initial_batch,
                            position ? fmt::format("the last one has {} and {}", position->epoch, position->batch)
                                     : std::string("there is none")),
                run_.model.name());
  if (!isMeant)
    return;
  const std::string mismatch = reader_.mismatch(position->pass);
  const bool fits = mismatch.empty() && position->counts.size() == shuffles_.size();
  if (!fits && position->batch > 0)
    throw Error(ErrorKind::value_error,
                fmt::format("the checkpoint was written after batch {} of an epoch, but this run has other data: {}",
                            position->batch, mismatch.empty() ? "a different number of shuffles" : mismatch),
                run_.model.name());
  if (!fits)
    return;
  if (position->pass.isOpen)
    reader_.resume(position->pass, position->batch);
  for (size_t i = 0; i < shuffles_.size(); ++i)
    *shuffles_[i] = position->counts[i];
  batch_ = position->batch;
  areMetricsDue_ = batch_ > 0;
  resumed_ = *position;
}

std::optional<Logs> FitProgress::logsOfBegun(int64_t epoch) const {
  if (!resumed_ || resumed_->batch == 0 || resumed_->epoch != epoch)
    return std::nullopt;
  Logs logs;
  for (const auto &[name, value] : resumed_->logs)
    logs.set(name, value);
  return logs;
}

void FitProgress::beforeStep(const BatchPart &part) {
  if (std::exchange(areMetricsDue_, false))
    setMetricSums(run_, part, resumed_->metrics);
}

void FitProgress::stepped(int64_t step, const Logs &logs) {
  batch_ = step + 1;
  logs_ = logs;
}

} // namespace halftone::detail
