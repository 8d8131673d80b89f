// Batches of arrays and datasets, by epoch.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/BatchSource.h"
#include "frontend/base/ProcessRun.h"
#include "frontend/base/RandomSeeds.h"
#include "frontend/data/Batches.h"
#include "frontend/data/WorkAhead.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace halftone::detail {

BatchSource::BatchSource(Batch arrays, int64_t batchSize, const char *argument) : arrays_(std::move(arrays)) {
  rows_ = checkRows(arrays_);
  if (rows_ == 0)
    throw Error(ErrorKind::value_error, "no data was given: the arrays have 0 samples");
  requirePositive(argument, batchSize);
  batchSize_ = std::min(batchSize, rows_);
}

std::optional<int64_t> BatchSource::batches() const {
  if (!dataset_)
    return (rows_ - 1) / batchSize_ + 1;
  std::optional<int64_t> count = dataset_->cardinality();
  return count == 0 ? std::nullopt : count;
}

void BatchSource::requireSteps(std::optional<int64_t> steps, const char *argument) const {
  if (!steps && dataset_ && DatasetAccess::isEndless(*dataset_))
    throw Error(ErrorKind::value_error, fmt::format("When passing an infinitely repeating dataset, you must specify "
                                                    "the `{}` argument: repeat() without a count never ends",
                                                    argument));
}

/// Returns this process's part of the batch that consists of the rows `order` of `arrays`, at least one.
static BatchPart partOf(const Batch &arrays, std::span<const int64_t> order) {
  const RowRange own = ownRows(std::ssize(order));
  const std::span<const int64_t> rows =
      own.count() == 0 ? order.first(1)
                       : order.subspan(static_cast<size_t>(own.first), static_cast<size_t>(own.count()));
  return {gatherBatch(arrays, rows), own.count(), std::ssize(order), {}};
}

BatchPart ownPart(const Batch &whole) {
  const int64_t rows = checkRows(whole);
  if (rows == 0 || !processGroup())
    return {whole, rows, rows, whole.y};
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  BatchPart part = partOf(whole, order);
  part.allTargets = whole.y;
  return part;
}

ShuffleCounts BatchSource::shuffles() const { return dataset_ ? DatasetAccess::shuffles(*dataset_) : ShuffleCounts(); }

std::vector<BatchPart> BatchSource::shapes() const {
  std::vector<BatchPart> result;
  if (dataset_)
    return result;
  auto rows = [&](int64_t count) {
    std::vector<int64_t> first(static_cast<size_t>(count));
    std::iota(first.begin(), first.end(), 0);
    result.push_back(partOf(arrays_, first));
  };
  rows(batchSize_);
  if (rows_ % batchSize_)
    rows(rows_ % batchSize_);
  return result;
}

// NOLINTNEXTLINE(bugprone-random-generator-seed): a pass sets the seeds when it begins
EpochReader::EpochReader(const BatchSource &source, bool shuffle, std::optional<int64_t> steps, const char *argument)
    : source_(source), shuffle_(shuffle), steps_(steps) {
  if (steps_ && *steps_ < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("{} must be positive, got {}; leave it out for all batches", argument, *steps_));
  source_.requireSteps(steps_, argument);
}

std::optional<int64_t> EpochReader::steps() const { return steps_ ? steps_ : source_.batches(); }

void EpochReader::beginPass() {
  passOpen_ = true;
  passOver_ = false;
  drawn_ = 0;
  passSeeds_ = seedSequence();
  passCounts_.clear();
  for (const auto &count : source_.shuffles())
    passCounts_.push_back(*count);
  resumedAt_.reset();
  next_ = nullptr;
  if (!source_.areArrays())
    return;
  order_.resize(static_cast<size_t>(source_.rows_));
  std::iota(order_.begin(), order_.end(), 0);
  if (shuffle_)
    ShuffleOrder(nextSeed()).shuffle(order_);
}

/// The batches of arrays, with the rows in the given order, from row `drawnRows` on.
static std::function<std::optional<BatchPart>()> partsOf(const Batch &arrays, std::vector<int64_t> order,
                                                         int64_t batchSize, size_t drawnRows) {
  return [arrays, order = std::move(order), most = static_cast<size_t>(batchSize),
          at = drawnRows]() mutable -> std::optional<BatchPart> {
    const std::span<const int64_t> rest = std::span(order).subspan(std::min(at, order.size()));
    at += most;
    return rest.empty() ? std::nullopt : std::optional(partOf(arrays, rest.first(std::min(most, rest.size()))));
  };
}

/// This process's part of a dataset element, which must be a batch.
static BatchPart partOfElement(const Batch &element) {
  try {
    return ownPart(element);
  } catch (const Error &error) {
    throw Error(error.kind(), error.message() +
                                  ". The elements of a Dataset must be batches: call batch(batch_size) on a "
                                  "Dataset of samples");
  }
}

/// The batches of a dataset from `position` on, or after it if `isDrawn`. `left` is their number, if known; no further
/// batch is requested, since a stream might block.
static std::function<std::optional<BatchPart>()> partsFrom(Dataset::iterator position, bool isDrawn,
                                                           std::optional<int64_t> left) {
  return [position = std::move(position), isDrawn, left]() mutable -> std::optional<BatchPart> {
    if (left == 0)
      return std::nullopt;
    if (std::exchange(isDrawn, true))
      ++position;
    if (left)
      --*left;
    return position != Dataset::iterator() ? std::optional(partOfElement(*position)) : std::nullopt;
  };
}

EpochReader::NextPart EpochReader::rest() {
  NextPart next;
  if (source_.areArrays()) {
    next = partsOf(source_.arrays_, std::move(order_), source_.batchSize_,
                   static_cast<size_t>(drawn_ * source_.batchSize_));
  } else {
    const bool isResumed = resumedAt_.has_value();
    const std::optional<int64_t> count = source_.batches();
    next = partsFrom(isResumed ? *std::exchange(resumedAt_, std::nullopt) : source_.dataset_->begin(), isResumed,
                     count ? std::optional(*count - drawn_) : std::nullopt);
  }
  return next;
}

/// Returns true if host steps on these elements take longer than handing a batch to another thread.
static bool isLongWork(const Tensors &x) {
  constexpr size_t least = 2048;
  size_t amount = 0;
  for (const Tensor &tensor : x) {
    amount += static_cast<size_t>(tensor.size());
    if (tensor.dtype() == DType::string)
      for (const std::string &text : TensorAccess::strings(tensor))
        amount += text.size();
  }
  return amount >= least;
}

std::optional<BatchPart> EpochReader::firstOfRest() {
  next_ = rest();
  std::optional<BatchPart> batch = next_();
  if (!batch || !prepare_ || !source_.mayReadAhead() || !isLongWork(batch->batch.x))
    return batch;
  const auto prepared = [prepare = prepare_](BatchPart part) {
    try {
      prepare(part);
    } catch (...) { // the step of this batch fails in the same way
    }
    return part;
  };
  next_ = workedAhead<BatchPart>(std::move(next_), prepared, 1, 1);
  return batch;
}

std::optional<BatchPart> EpochReader::draw() {
  std::optional<BatchPart> batch;
  if (!passOver_)
    batch = next_ ? next_() : firstOfRest();
  passOver_ = !batch;
  drawn_ += batch.has_value();
  return batch;
}

PassPosition EpochReader::position() const {
  return {.isOpen = passOpen_,
          .drawn = drawn_,
          .rows = source_.rows_,
          .batchSize = source_.batchSize_,
          .seeds = passSeeds_,
          .counts = passCounts_};
}

std::string EpochReader::mismatch(const PassPosition &position) const {
  if (position.rows != source_.rows_ || position.batchSize != source_.batchSize_) {
    const auto text = [](int64_t rows, int64_t batchSize) {
      return rows > 0 ? fmt::format("{} rows in batches of {}", rows, batchSize) : std::string("a dataset");
    };
    return fmt::format("{} instead of {}", text(source_.rows_, source_.batchSize_),
                       text(position.rows, position.batchSize));
  }
  return position.counts.size() == source_.shuffles().size() || !position.isOpen ? ""
                                                                                 : "a different number of shuffles";
}

namespace {

/// Saves the seed sequence and the shuffle counts, and restores them at the end of its life.
class KeptSeeds {
public:
  explicit KeptSeeds(ShuffleCounts shuffles) : shuffles_(std::move(shuffles)) {
    for (const auto &count : shuffles_)
      counts_.push_back(*count);
  }
  ~KeptSeeds() {
    setSeedSequence(seeds_);
    for (size_t i = 0; i < shuffles_.size(); ++i)
      *shuffles_[i] = counts_[i];
  }
  KeptSeeds(const KeptSeeds &) = delete;

private:
  std::mt19937_64 seeds_ = seedSequence();
  ShuffleCounts shuffles_;
  std::vector<int64_t> counts_;
};

} // namespace

void EpochReader::resume(const PassPosition &position, int64_t steps) {
  const ShuffleCounts shuffles = source_.shuffles();
  const KeptSeeds kept(shuffles);
  setSeedSequence(position.seeds);
  for (size_t i = 0; i < shuffles.size(); ++i)
    *shuffles[i] = position.counts[i];
  beginPass();
  bool isInRange = !source_.batches() || position.drawn <= *source_.batches();
  if (!source_.areArrays() && isInRange && position.drawn > 0) {
    resumedAt_ = source_.dataset_->begin();
    for (int64_t i = 1; i < position.drawn && *resumedAt_ != Dataset::iterator(); ++i)
      ++*resumedAt_;
    isInRange = *resumedAt_ != Dataset::iterator();
  }
  if (!isInRange)
    throw Error(
        ErrorKind::value_error,
        fmt::format("the checkpoint was written after {} batches of a pass, but the data have fewer", position.drawn));
  drawn_ = position.drawn;
  if (steps > 0)
    resumedSteps_ = steps;
}

EpochReader::Epoch EpochReader::epoch(const std::function<bool(int64_t, const BatchPart &)> &visit) {
  bool isNew = !resumedSteps_ && (!steps_ || !passOpen_);
  if (isNew)
    beginPass();
  std::optional<int64_t> wanted = steps();
  Epoch epoch{.steps = std::exchange(resumedSteps_, std::nullopt).value_or(0)};
  while (epoch.steps != wanted) {
    std::optional<BatchPart> batch = draw();
    if (!batch && epoch.steps == 0 && !isNew) { // the last epoch exhausted the pass
      beginPass();
      batch = draw();
    }
    if (!batch) {
      epoch.isExhausted = wanted.has_value();
      passOpen_ = false;
      break;
    }
    if (!visit(epoch.steps++, *batch))
      break;
  }
  return epoch;
}

} // namespace halftone::detail
