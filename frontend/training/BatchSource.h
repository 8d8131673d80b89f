// The source of a run's batches, and the reader that draws them epoch by epoch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/DatasetAccess.h"
#include "frontend/training/PlaceInData.h"
#include "halftone/Data.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace halftone::detail {

/// The rows of a batch that this process computes. If it has none, its batch has the first row of all, which counts as 0.
struct BatchPart {
  Batch batch;
  int64_t rows = 0, allRows = 0; // of this process, and of all that share the batch
  Tensors allTargets{}; // of all processes, by whose rows errors count; of arrays none, which are checked before
};
/// The part of this process. value_error when counts of rows differ; `whole` may have no rows.
BatchPart ownPart(const Batch &whole);

/// Arrays that are cut into batches, or a dataset of batches.
class BatchSource {
public:
  /// value_error naming `argument` when the batch size is not positive; value_error when there are no rows.
  BatchSource(Batch arrays, int64_t batchSize, const char *argument = "batch_size");
  explicit BatchSource(Dataset dataset) : dataset_(std::move(dataset)) {}

  /// A run checks arrays as a whole before its first step changes anything, and a dataset's batches as they come.
  bool areArrays() const { return !dataset_; }
  const Batch &arrays() const { return arrays_; }
  /// How many batches a pass has; nullopt for a dataset without a known count.
  std::optional<int64_t> batches() const;
  /// value_error naming `argument` when a dataset repeats without end and `steps` does not say where an epoch ends.
  void requireSteps(std::optional<int64_t> steps, const char *argument) const;
  /// Of the dataset; none of arrays.
  ShuffleCounts shuffles() const;
  /// For arrays: this process's part of the first batch, and of the last batch if that is smaller.
  std::vector<BatchPart> shapes() const;
  /// Whether a thread may draw a batch before the step that needs it: from arrays, and from a dataset that ends with prefetch().
  bool mayReadAhead() const { return !dataset_ || DatasetAccess::isReadAhead(*dataset_); }

private:
  friend class EpochReader;
  Batch arrays_;
  int64_t batchSize_ = 0, rows_ = 0;
  std::optional<Dataset> dataset_;
};

/// The epochs over a source, in Keras's way. If `steps` is given, an epoch goes on in the data where the last epoch
/// ended, and a new pass begins when a pass is over. Without `steps` each epoch is a new pass. The reader draws a batch
/// only when a step needs it, unless prepareAhead() lets it draw the next one before.
class EpochReader {
public:
  /// value_error naming `argument` when `steps` is not positive, or missing for a dataset without end.
  EpochReader(const BatchSource &source, bool shuffle, std::optional<int64_t> steps, const char *argument);
  /// Work on each batch, such as host steps, that a thread does while the step before it runs, if the source may be read ahead
  /// and its batches are large.
  /// What fails there must fail in the step too: its error is dropped. Null: none.
  void prepareAhead(std::function<void(const BatchPart &)> work) { prepare_ = std::move(work); }
  /// How many steps an epoch should have; nullopt if neither `steps` nor the source gives a count.
  std::optional<int64_t> steps() const;

  struct Epoch {
    int64_t steps = 0;
    bool ranOut = false; // the data ended before the epoch had all its steps
  };
  /// Visits this process's parts of the batches of one epoch, until there are no more of them or `visit` returns false.
  Epoch epoch(const std::function<bool(int64_t step, const BatchPart &part)> &visit);

  /// Where the reader is in its pass, while a step or a callback runs.
  PassPlace place() const;
  /// Whether the next epoch goes on in the pass.
  bool goesOnInPass() const { return passOpen_ && steps_; }
  /// Why the data are not those of the place; "" if they may be.
  std::string misfit(const PassPlace &place) const;
  /// Begins the pass as it began, draws the elements before the place again, and drops them. The next epoch goes on there, as if
  /// it had had `steps`. The sequence of seeds and the counts of shuffles are afterwards as before. value_error if the pass has
  /// fewer elements.
  void resume(const PassPlace &place, int64_t steps);

private:
  using NextPart = std::function<std::optional<BatchPart>()>;
  void beginPass();
  std::optional<BatchPart> draw();
  /// The batches of the pass after those that are drawn.
  NextPart rest();
  /// Draws the first one of them, by which it decides whether a thread draws the others.
  std::optional<BatchPart> firstOfRest();

  const BatchSource &source_;
  bool shuffle_;
  std::optional<int64_t> steps_;
  bool passOpen_ = false, passOver_ = false;
  int64_t drawn_ = 0; // in this pass
  std::vector<int64_t> order_;
  std::optional<Dataset::iterator> resumedAt_; // the last element that is drawn, until rest() goes on after it
  NextPart next_;                              // null before the first batch of a pass
  std::function<void(const BatchPart &)> prepare_;
  std::mt19937_64 passSeeds_; // the sequence of seeds when the pass began; NOLINT(bugprone-random-generator-seed)
  std::vector<int64_t> passCounts_;
  std::optional<int64_t> resumedSteps_; // of the next epoch
};

} // namespace halftone::detail
