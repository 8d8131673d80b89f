// Datasets: pipelines of batches over arrays and generators.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/RandomSeeds.h"
#include "frontend/data/Batches.h"
#include "frontend/data/DatasetRep.h"
#include "frontend/data/WorkAhead.h"
#include "halftone/Error.h"
#include "runtime/base/Extents.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <utility>

namespace halftone {
using namespace detail;

namespace {

/// Never asks a generator for more elements than its cardinality, nor again after it returned nullopt. A stream would
/// block the caller, and other generators may forget that they have ended.
NextElement bounded(NextElement next, std::optional<int64_t> count) {
  if (!next)
    throw Error(ErrorKind::value_error, "Dataset::from_generator: the function returned an empty generator");
  return [next = std::move(next), left = count.value_or(INT64_MAX)]() mutable -> std::optional<Batch> {
    std::optional<Batch> element = left > 0 ? next() : std::nullopt;
    left = element ? left - 1 : 0;
    return element;
  };
}

NextElement batched(NextElement next, int64_t size, bool dropRemainder) {
  return [next = std::move(next), size, dropRemainder]() -> std::optional<Batch> {
    std::vector<Batch> elements;
    while (static_cast<int64_t>(elements.size()) < size)
      if (std::optional<Batch> element = next())
        elements.push_back(std::move(*element));
      else
        break;
    if (elements.empty() || (dropRemainder && static_cast<int64_t>(elements.size()) < size))
      return std::nullopt;
    return stackElements(elements);
  };
}

NextElement shuffled(NextElement next, int64_t bufferSize, std::shared_ptr<ShuffleOrder> order) {
  auto buffer = std::make_shared<std::vector<Batch>>();
  return [next = std::move(next), buffer, order = std::move(order), bufferSize]() -> std::optional<Batch> {
    while (static_cast<int64_t>(buffer->size()) < bufferSize)
      if (std::optional<Batch> element = next())
        buffer->push_back(std::move(*element));
      else
        break;
    if (buffer->empty())
      return std::nullopt;
    std::swap((*buffer)[order->below(buffer->size())], buffer->back());
    Batch chosen = std::move(buffer->back());
    buffer->pop_back();
    return chosen;
  };
}

/// `count` passes, or infinitely many. An empty pass ends the iteration, as all later ones may be empty too.
NextElement repeated(StartPass start, std::optional<int64_t> count) {
  NextElement first = count == 0 ? NextElement() : start();
  return [start = std::move(start), next = std::move(first), left = count,
          isEmpty = true]() mutable -> std::optional<Batch> {
    while (next) {
      if (std::optional<Batch> element = next()) {
        isEmpty = false;
        return element;
      }
      next = nullptr; // ends the thread of this pass before the next pass begins
      if (isEmpty || (left && --*left == 0))
        break;
      isEmpty = true;
      next = start();
    }
    return std::nullopt;
  };
}

/// The elements of the first complete pass.
class Kept {
public:
  ElementsInMemory get() {
    const ForkSafeLock lock(mutex_);
    return elements_;
  }
  void set(ElementsInMemory elements) {
    const ForkSafeLock lock(mutex_);
    if (!elements_)
      elements_ = std::move(elements);
  }

private:
  std::mutex mutex_;
  ElementsInMemory elements_;
};

/// Forwards the elements of `next` and caches them when the pass is complete: at its end, or after `count` elements,
/// since a reader that knows the count asks for no more. A pass in which `next` threw is never complete.
NextElement keeping(NextElement next, std::shared_ptr<Kept> kept, std::optional<int64_t> count) {
  return [next = std::move(next), kept = std::move(kept), count, elements = std::vector<Batch>(), isOver = false,
          hasFailed = false]() mutable -> std::optional<Batch> {
    if (isOver)
      return std::nullopt;
    const bool hadFailed = std::exchange(hasFailed, true); // reset below if next() does not throw
    std::optional<Batch> element = next();
    hasFailed = hadFailed;
    if (hasFailed)
      return element;
    if (element)
      elements.push_back(*element);
    isOver = !element || std::ssize(elements) == count;
    if (isOver)
      kept->set(std::make_shared<std::vector<Batch>>(std::move(elements)));
    return element;
  };
}

} // namespace

Batch detail::rowOf(const Batch &arrays, int64_t row) {
  return mapTensors(arrays, [row](const Tensor &tensor) {
    std::vector<int64_t> dims = tensor.shape().dims();
    dims.erase(dims.begin());
    return tensor.slice(row, row + 1).reshape(Shape(dims));
  });
}
NextElement detail::fromMemory(ElementsInMemory elements) {
  return [elements = std::move(elements), i = size_t{0}]() mutable -> std::optional<Batch> {
    return i < elements->size() ? std::optional((*elements)[i++]) : std::nullopt;
  };
}
int64_t detail::ShuffleSeeds::next() { return seed_ ? *seed_ + 7919 * (*begun_)++ : nextSeed(); }

bool detail::DatasetAccess::isEndless(const Dataset &dataset) { return dataset.rep_->isEndless; }
bool detail::DatasetAccess::isReadAhead(const Dataset &dataset) { return dataset.rep_->isReadAhead; }
const ShuffleCounts &detail::DatasetAccess::shuffles(const Dataset &dataset) { return dataset.rep_->shuffles; }

Dataset::Dataset(const Dataset &) = default;
Dataset::Dataset(Dataset &&other) noexcept : rep_(other.rep_) {} // copies, so that a moved-from dataset stays valid
Dataset &Dataset::operator=(const Dataset &) & = default;
Dataset &Dataset::operator=(Dataset &&other) & noexcept { return *this = static_cast<const Dataset &>(other); }
Dataset::~Dataset() = default;
Dataset::Dataset(std::shared_ptr<Rep> rep) : rep_(std::move(rep)) {}

Dataset::Dataset(const Tensors &x, const Tensors &y, const Tensors &sampleWeight) {
  Batch arrays{x, y, sampleWeight};
  int64_t rows = checkRows(arrays);
  auto start = [arrays, rows]() -> NextElement {
    return [arrays, rows, i = int64_t{0}]() mutable -> std::optional<Batch> {
      if (i == rows)
        return std::nullopt;
      return rowOf(arrays, i++);
    };
  };
  rep_ = std::make_shared<Rep>(Rep{.begin = [start] { return start; }, .cardinality = rows, .isFixed = true});
}

Dataset Dataset::from_generator(std::function<std::function<std::optional<Batch>()>()> makeEpoch,
                                std::optional<int64_t> cardinality) {
  if (!makeEpoch)
    throw Error(ErrorKind::value_error, "Dataset::from_generator needs a function that starts an epoch");
  if (cardinality && *cardinality < 0)
    throw Error(ErrorKind::value_error,
                fmt::format("cardinality must not be negative, got {}; omit it if it is unknown", *cardinality));
  auto shared = std::make_shared<const decltype(makeEpoch)>(std::move(makeEpoch)); // may count its epochs
  auto start = [shared, cardinality] { return bounded((*shared)(), cardinality); };
  return DatasetAccess::make({.begin = [start] { return start; }, .cardinality = cardinality});
}

Dataset Dataset::batch(int64_t size, bool dropRemainder) const {
  requirePositive("batch_size", size);
  Rep rep =
      rep_->each([size, dropRemainder](NextElement next) { return batched(std::move(next), size, dropRemainder); });
  rep.batched = BatchedElements{size, rep_->cardinality};
  if (const std::optional<int64_t> count = rep_->cardinality) {
    rep.cardinality = *count / size + (!dropRemainder && *count % size != 0);
    rep.batched->count = dropRemainder ? *count / size * size : *count;
  }
  return DatasetAccess::make(std::move(rep));
}
Dataset Dataset::shuffle(int64_t bufferSize, std::optional<int64_t> seed) const {
  requirePositive("buffer_size", bufferSize);
  Rep rep = rep_->each([](NextElement next) { return next; });
  const auto seeds = std::make_shared<ShuffleSeeds>(seed);
  rep.isFixed = false;
  rep.shuffles.push_back(seeds->begun());
  // A seed determines a sequence of iterations. Each iteration has its own random sequence, shared by its passes.
  rep.begin = [before = rep_, bufferSize, seeds]() -> StartPass {
    StartPass start = before->begin();
    auto order = std::make_shared<ShuffleOrder>(seeds->next());
    return [start = std::move(start), bufferSize, order] { return shuffled(start(), bufferSize, order); };
  };
  return DatasetAccess::make(std::move(rep));
}
Dataset Dataset::map(std::function<Batch(Batch)> f, const MapArgs &args) const {
  if (!f)
    throw Error(ErrorKind::value_error, "Dataset::map needs a function; received an empty one");
  const std::optional<int64_t> threads = args.num_parallel_calls;
  requirePositive("num_parallel_calls", threads.value_or(1));
  Rep rep = rep_->each([f = std::move(f), threads](NextElement next) -> NextElement {
    if (threads)
      return workedAhead<Batch>(std::move(next), f, *threads, *threads);
    return [next = std::move(next), f]() -> std::optional<Batch> {
      if (std::optional<Batch> batch = next())
        return f(std::move(*batch));
      return std::nullopt;
    };
  });
  rep.isFixed = false;
  return DatasetAccess::make(std::move(rep));
}
Dataset Dataset::repeat(std::optional<int64_t> count) const {
  if (count && *count < -1)
    throw Error(
        ErrorKind::value_error,
        fmt::format("repeat: count must not be negative, got {}; omit it, or give -1, to repeat forever", *count));
  if (count == -1)
    count.reset();
  const bool isEmpty = count == 0 || rep_->cardinality == 0;
  Rep rep = rep_->each([](NextElement next) { return next; });
  rep.cardinality.reset();
  if (isEmpty)
    rep.cardinality = 0;
  else if (count && rep_->cardinality)
    rep.cardinality = extentProduct(*rep_->cardinality, *count);
  rep.isEndless = !isEmpty && (!count || rep_->isEndless);
  rep.begin = [before = rep_, count]() -> StartPass {
    return [start = before->begin(), count] { return repeated(start, count); };
  };
  return DatasetAccess::make(std::move(rep));
}
Dataset Dataset::cache() const {
  if (rep_->isEndless)
    return *this; // no pass is ever complete
  Rep rep = rep_->each([](NextElement next) { return next; });
  rep.begin = [before = rep_, kept = std::make_shared<Kept>()]() -> StartPass {
    if (const ElementsInMemory all = kept->get())
      return [all] { return fromMemory(all); };
    return [start = before->begin(), kept, count = before->cardinality] {
      const ElementsInMemory all = kept->get(); // from an earlier pass of this iteration
      return all ? fromMemory(all) : keeping(start(), kept, count);
    };
  };
  return DatasetAccess::make(std::move(rep));
}
Dataset Dataset::prefetch(int64_t bufferSize) const {
  requirePositive("buffer_size", bufferSize);
  Rep rep = rep_->each(
      [bufferSize](NextElement next) { return workedAhead<Batch>(std::move(next), nullptr, 1, bufferSize); });
  rep.batched = rep_->batched; // same elements
  rep.isReadAhead = true;
  return DatasetAccess::make(std::move(rep));
}
std::optional<int64_t> Dataset::cardinality() const { return rep_->cardinality; }

Dataset::iterator Dataset::begin() const {
  const std::shared_ptr<Rep> rep = rep_; // user code may destroy this handle
  return iterator(rep->begin()());
}
Dataset::iterator::iterator(NextElement next) : next_(std::move(next)) { ++*this; }
const Batch &Dataset::iterator::operator*() const {
  if (!batch_)
    throw Error(ErrorKind::value_error, "A Dataset's iterator has no batch: it is at the end, or was moved from");
  return *batch_;
}
Dataset::iterator &Dataset::iterator::operator++() {
  if (!next_)
    throw Error(ErrorKind::value_error, "A Dataset's iterator cannot be read: it is end(), or was moved from");
  std::optional<Batch> batch = next_();
  batch_ = batch ? std::make_shared<Batch>(std::move(*batch)) : nullptr;
  return *this;
}

} // namespace halftone
