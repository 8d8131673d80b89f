// The source of a run's batches, and the reader that draws them by epoch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/DatasetAccess.h"
#include "frontend/training/DataPosition.h"
#include "halftone/Data.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace halftone::detail {

/// The rows of a batch that this process computes. If it has none, its batch contains the first row of the whole batch,
/// counted as 0 rows.
struct BatchPart {
  Batch batch;
  int64_t rows = 0, allRows = 0; // of this process, and of all processes that share the batch
  Tensors allTargets{}; // of all processes, for row numbers in errors; none for arrays, which are checked before
};
/// The part of `whole`, which may have no rows, that this process computes. value_error if row counts differ.
BatchPart ownPart(const Batch &whole);

/// Arrays to be split into batches, or a dataset of batches.
class BatchSource {
public:
  /// value_error naming `argument` if the batch size is not positive; value_error if there are no rows.
  BatchSource(Batch arrays, int64_t batchSize, const char *argument = "batch_size");
  explicit BatchSource(Dataset dataset) : dataset_(std::move(dataset)) {}

  /// True if the source is arrays. A run checks arrays as a whole before its first step, but a dataset's batches as
  /// they arrive.
  bool areArrays() const { return !dataset_; }
  const Batch &arrays() const { return arrays_; }
  /// The number of batches in a pass; nullopt for a dataset of unknown size.
  std::optional<int64_t> batches() const;
  /// value_error naming `argument` if a dataset repeats endlessly and `steps` does not determine the end of an epoch.
  void requireSteps(std::optional<int64_t> steps, const char *argument) const;
  /// The shuffle counts of the dataset; none for arrays.
  ShuffleCounts shuffles() const;
  /// For arrays: this process's part of the first batch, and of the last batch if it is smaller.
  std::vector<BatchPart> shapes() const;
  /// Returns true if a thread may draw a batch before its step: for arrays, and for a dataset that ends with
  /// prefetch().
  bool mayReadAhead() const { return !dataset_ || DatasetAccess::isReadAhead(*dataset_); }

private:
  friend class EpochReader;
  Batch arrays_;
  int64_t batchSize_ = 0, rows_ = 0;
  std::optional<Dataset> dataset_;
};

/// Iterates over the epochs of a source as Keras does. If `steps` is given, an epoch continues in the data where the
/// last epoch ended, and a new pass begins when a pass is over. Without `steps` each epoch is a new pass. The reader
/// draws a batch only when a step needs it, unless prepareAhead() permits drawing the next one earlier.
class EpochReader {
public:
  /// value_error naming `argument` if `steps` is not positive, or missing for an endless dataset.
  EpochReader(const BatchSource &source, bool shuffle, std::optional<int64_t> steps, const char *argument);
  /// Sets work on each batch, such as its host steps, that another thread does during the previous step if the source
  /// may be read ahead and its batches are large. Errors of `work` are dropped, so the step must fail with them too.
  /// Null for none.
  void prepareAhead(std::function<void(const BatchPart &)> work) { prepare_ = std::move(work); }
  /// The number of steps that an epoch should have; nullopt if neither `steps` nor the source determines it.
  std::optional<int64_t> steps() const;

  struct Epoch {
    int64_t steps = 0;
    bool isExhausted = false; // the data ended before the epoch completed its steps
  };
  /// Visits this process's parts of the batches of one epoch, until the epoch ends or `visit` returns false.
  Epoch epoch(const std::function<bool(int64_t step, const BatchPart &part)> &visit);

  /// The reader's position in its pass, while a step or a callback runs.
  PassPosition position() const;
  /// Returns true if the next epoch continues the pass.
  bool continuesPass() const { return passOpen_ && steps_; }
  /// The reason why `position` cannot be a position in these data; "" if it may be.
  std::string mismatch(const PassPosition &position) const;
  /// Replays the pass from its start up to `position`, and drops the drawn elements. The next epoch continues there, as
  /// if it had already run `steps` steps. The seed sequence and the shuffle counts are restored afterwards. value_error
  /// if the pass has fewer elements.
  void resume(const PassPosition &position, int64_t steps);

private:
  using NextPart = std::function<std::optional<BatchPart>()>;
  void beginPass();
  std::optional<BatchPart> draw();
  /// Returns a function that draws the remaining batches of the pass.
  NextPart rest();
  /// Draws the first remaining batch. Its size determines whether another thread draws the others.
  std::optional<BatchPart> firstOfRest();

  const BatchSource &source_;
  bool shuffle_;
  std::optional<int64_t> steps_;
  bool passOpen_ = false, passOver_ = false;
  int64_t drawn_ = 0; // drawn in this pass
  std::vector<int64_t> order_;
  std::optional<Dataset::iterator>
      resumedAt_; // the last element drawn by a resumed run, until rest() continues after it
  NextPart next_; // null before the first batch of a pass
  std::function<void(const BatchPart &)> prepare_;
  std::mt19937_64 passSeeds_; // the sequence of seeds when the pass began; NOLINT(bugprone-random-generator-seed)
  std::vector<int64_t> passCounts_;
  std::optional<int64_t> resumedSteps_; // steps that the next epoch has already run
};

} // namespace halftone::detail
