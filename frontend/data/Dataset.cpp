// Datasets: pipelines of batches over arrays and generators.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/DatasetAccess.h"
#include "frontend/base/NameList.h"
#include "frontend/base/RandomSeeds.h"
#include "frontend/data/Batches.h"
#include "halftone/Data.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <utility>

namespace halftone {
using namespace detail;

namespace {

using Next = std::function<std::optional<Batch>()>;
/// Starts a pass over the data. An iteration has one of its own, and makes several passes under repeat(), one after the
/// other, perhaps on a thread that reads ahead.
using StartPass = std::function<Next()>;

template <class F> Batch mapTensors(const Batch &batch, F f) {
  auto all = [&](const Tensors &tensors) {
    std::vector<Tensor> list;
    for (const Tensor &tensor : tensors)
      list.push_back(f(tensor));
    return TensorAccess::named(std::move(list), tensors.names());
  };
  return {all(batch.x), all(batch.y), all(batch.sample_weight)};
}

/// The tensors of an element in the order of the first one's. value_error if they have other names or another count.
std::vector<Tensor> alike(const Tensors &first, const Tensors &tensors, const char *part) {
  if (first.size() != tensors.size() || first.names().empty() != tensors.names().empty())
    throw Error(
        ErrorKind::value_error,
        fmt::format("cannot batch elements of different structures: `{}` has {} tensors [{}] and {} tensors [{}]", part,
                    first.size(), fmt::join(first.names(), ", "), tensors.size(), fmt::join(tensors.names(), ", ")));
  if (first.names() == tensors.names())
    return {tensors.begin(), tensors.end()};
  return inOrder({.kind = "tensor", .owner = "a batch with the first element", .names = first.names()}, part, tensors);
}

/// Stacks elements along a new leading axis.
Batch stack(const std::vector<Batch> &elements) {
  auto column = [&](Tensors Batch::*part, const char *name) {
    const Tensors &first = elements[0].*part;
    std::vector<std::vector<Tensor>> rows(first.size());
    for (const Batch &element : elements) {
      const std::vector<Tensor> tensors = alike(first, element.*part, name);
      for (size_t i = 0; i < tensors.size(); ++i)
        rows[i].push_back(tensors[i]);
    }
    std::vector<Tensor> list;
    for (const std::vector<Tensor> &each : rows)
      list.push_back(stackRows(each));
    return TensorAccess::named(std::move(list), first.names());
  };
  return {column(&Batch::x, "x"), column(&Batch::y, "y"), column(&Batch::sample_weight, "sample_weight")};
}

/// Asks a generator for no more elements than its cardinality, and not again after it returned nullopt: a stream would
/// make the caller wait, and other generators forget that they are over.
Next bounded(Next next, std::optional<int64_t> count) {
  if (!next)
    throw Error(ErrorKind::value_error, "Dataset::from_generator: the function gave an empty generator");
  return [next = std::move(next), left = count.value_or(INT64_MAX)]() mutable -> std::optional<Batch> {
    std::optional<Batch> element = left > 0 ? next() : std::nullopt;
    left = element ? left - 1 : 0;
    return element;
  };
}

Next batched(Next next, int64_t size, bool dropRemainder) {
  return [next = std::move(next), size, dropRemainder]() -> std::optional<Batch> {
    std::vector<Batch> elements;
    while (static_cast<int64_t>(elements.size()) < size)
      if (std::optional<Batch> element = next())
        elements.push_back(std::move(*element));
      else
        break;
    if (elements.empty() || (dropRemainder && static_cast<int64_t>(elements.size()) < size))
      return std::nullopt;
    return stack(elements);
  };
}

Next shuffled(Next next, int64_t bufferSize, std::shared_ptr<ShuffleOrder> order) {
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

/// `count` passes, or passes without end. A pass without elements ends the iteration: the next one may have none either.
Next repeated(StartPass start, std::optional<int64_t> count) {
  Next first = count == 0 ? Next() : start();
  return [start = std::move(start), next = std::move(first), left = count,
          isEmpty = true]() mutable -> std::optional<Batch> {
    while (next) {
      if (std::optional<Batch> element = next()) {
        isEmpty = false;
        return element;
      }
      next = nullptr; // the thread of a pass ends before the next pass begins
      if (isEmpty || (left && --*left == 0))
        break;
      isEmpty = true;
      next = start();
    }
    return std::nullopt;
  };
}

/// The elements of the first pass that was whole.
class Kept {
public:
  using Elements = std::shared_ptr<const std::vector<Batch>>;
  Elements get() {
    const ForkSafeLock lock(mutex_);
    return elements_;
  }
  void set(Elements elements) {
    const ForkSafeLock lock(mutex_);
    if (!elements_)
      elements_ = std::move(elements);
  }

private:
  std::mutex mutex_;
  Elements elements_;
};

/// Gives the elements of `next`, and keeps them when the pass is whole: at its end, or after `count` elements, since a
/// reader that knows the count asks for no more. A pass in which `next` has thrown an error is not whole.
Next keeping(Next next, std::shared_ptr<Kept> kept, std::optional<int64_t> count) {
  return [next = std::move(next), kept = std::move(kept), count, elements = std::vector<Batch>(), isOver = false,
          hasFailed = false]() mutable -> std::optional<Batch> {
    if (isOver)
      return std::nullopt;
    const bool hadFailed = std::exchange(hasFailed, true); // unless next() returns
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

Next fromMemory(Kept::Elements elements) {
  return [elements = std::move(elements), i = size_t{0}]() mutable -> std::optional<Batch> {
    return i < elements->size() ? std::optional((*elements)[i++]) : std::nullopt;
  };
}

/// `count` times `each`, at most the largest integer.
int64_t times(int64_t each, int64_t count) { return each > 0 && count > INT64_MAX / each ? INT64_MAX : each * count; }

} // namespace

struct Dataset::Rep {
  /// Begins an iteration, on the thread that asks for it: what is random is drawn there, so that the elements do not depend
  /// on how far a thread reads ahead.
  std::function<StartPass()> begin;
  std::optional<int64_t> cardinality;
  bool isEndless = false;

  /// Begins iterations whose passes are `f` of this one's passes.
  template <class F> std::function<StartPass()> each(F f) const {
    return [begin = begin, f = std::move(f)]() -> StartPass { return [start = begin(), f] { return f(start()); }; };
  }
};

bool detail::DatasetAccess::isEndless(const Dataset &dataset) { return dataset.rep_->isEndless; }

Dataset::Dataset(const Dataset &) = default;
Dataset::Dataset(Dataset &&other) noexcept : rep_(other.rep_) {} // copies, so that a moved-from dataset stays whole
Dataset &Dataset::operator=(const Dataset &) & = default;
Dataset &Dataset::operator=(Dataset &&other) & noexcept { return *this = static_cast<const Dataset &>(other); }
Dataset::~Dataset() = default;
Dataset::Dataset(std::shared_ptr<Rep> rep) : rep_(std::move(rep)) {}

Dataset::Dataset(const Tensors &x, const Tensors &y, const Tensors &sampleWeight) {
  Batch arrays{x, y, sampleWeight};
  int64_t rows = checkRows(arrays);
  auto start = [arrays, rows]() -> Next {
    return [arrays, rows, i = int64_t{0}]() mutable -> std::optional<Batch> {
      if (i == rows)
        return std::nullopt;
      int64_t row = i++;
      return mapTensors(arrays, [row](const Tensor &tensor) { // one element, without the leading axis
        std::vector<int64_t> dims = tensor.shape().dims();
        dims.erase(dims.begin());
        return tensor.slice(row, row + 1).reshape(Shape(dims));
      });
    };
  };
  rep_ = std::make_shared<Rep>(Rep{[start] { return start; }, rows});
}

Dataset Dataset::from_generator(std::function<std::function<std::optional<Batch>()>()> makeEpoch,
                                std::optional<int64_t> cardinality) {
  if (!makeEpoch)
    throw Error(ErrorKind::value_error, "Dataset::from_generator needs a function that starts an epoch");
  if (cardinality && *cardinality < 0)
    throw Error(
        ErrorKind::value_error,
        fmt::format("cardinality must not be negative, got {}; leave it out when it is not known", *cardinality));
  auto shared = std::make_shared<const decltype(makeEpoch)>(std::move(makeEpoch)); // it may count its epochs
  auto start = [shared, cardinality] { return bounded((*shared)(), cardinality); };
  return Dataset(std::make_shared<Rep>(Rep{[start] { return start; }, cardinality}));
}

Dataset Dataset::batch(int64_t size, bool dropRemainder) const {
  if (size < 1)
    throw Error(ErrorKind::value_error, fmt::format("batch_size must be positive, got {}", size));
  std::optional<int64_t> count;
  if (rep_->cardinality)
    count = *rep_->cardinality / size + (!dropRemainder && *rep_->cardinality % size != 0);
  auto begin = rep_->each([size, dropRemainder](Next next) { return batched(std::move(next), size, dropRemainder); });
  return Dataset(std::make_shared<Rep>(Rep{begin, count, rep_->isEndless}));
}
Dataset Dataset::shuffle(int64_t bufferSize, std::optional<int64_t> seed) const {
  if (bufferSize < 1)
    throw Error(ErrorKind::value_error, fmt::format("buffer_size must be positive, got {}", bufferSize));
  // A seed gives one sequence of iterations; each has its own sequence of random numbers, which its passes share.
  auto begin = [rep = rep_, bufferSize, seed, count = std::make_shared<std::atomic<int64_t>>(0)]() -> StartPass {
    StartPass start = rep->begin();
    auto order = std::make_shared<ShuffleOrder>(seed ? *seed + 7919 * (*count)++ : nextSeed());
    return [start = std::move(start), bufferSize, order] { return shuffled(start(), bufferSize, order); };
  };
  return Dataset(std::make_shared<Rep>(Rep{begin, rep_->cardinality, rep_->isEndless}));
}
Dataset Dataset::map(std::function<Batch(Batch)> f) const {
  if (!f)
    throw Error(ErrorKind::value_error, "Dataset::map needs a function that can be called; an empty one was given");
  auto begin = rep_->each([f = std::move(f)](Next next) -> Next {
    return [next = std::move(next), f]() -> std::optional<Batch> {
      if (std::optional<Batch> batch = next())
        return f(std::move(*batch));
      return std::nullopt;
    };
  });
  return Dataset(std::make_shared<Rep>(Rep{begin, rep_->cardinality, rep_->isEndless}));
}
Dataset Dataset::take(int64_t count) const {
  if (count < 0)
    throw Error(ErrorKind::value_error, fmt::format("take: count must not be negative, got {}", count));
  auto begin = rep_->each([count](Next next) -> Next {
    return [next = std::move(next), count, i = int64_t{0}]() mutable -> std::optional<Batch> {
      return i++ < count ? next() : std::nullopt;
    };
  });
  std::optional<int64_t> taken = rep_->isEndless ? count : rep_->cardinality;
  if (taken)
    taken = std::min(count, *taken);
  return Dataset(std::make_shared<Rep>(Rep{begin, taken}));
}
Dataset Dataset::repeat(std::optional<int64_t> count) const {
  if (count && *count < -1)
    throw Error(ErrorKind::value_error,
                fmt::format("repeat: count must not be negative, got {}; leave it out, or give -1, for ever", *count));
  if (count == -1)
    count.reset();
  const bool isEmpty = count == 0 || rep_->cardinality == 0;
  std::optional<int64_t> whole;
  if (isEmpty)
    whole = 0;
  else if (count && rep_->cardinality)
    whole = times(*rep_->cardinality, *count);
  auto begin = [rep = rep_, count]() -> StartPass {
    return [start = rep->begin(), count] { return repeated(start, count); };
  };
  return Dataset(std::make_shared<Rep>(Rep{begin, whole, !isEmpty && (!count || rep_->isEndless)}));
}
Dataset Dataset::cache() const {
  if (rep_->isEndless)
    return *this; // no pass is ever whole
  auto begin = [rep = rep_, kept = std::make_shared<Kept>()]() -> StartPass {
    if (const Kept::Elements all = kept->get())
      return [all] { return fromMemory(all); };
    return [start = rep->begin(), kept, count = rep->cardinality] {
      const Kept::Elements all = kept->get(); // of an earlier pass of this iteration
      return all ? fromMemory(all) : keeping(start(), kept, count);
    };
  };
  return Dataset(std::make_shared<Rep>(Rep{begin, rep_->cardinality}));
}
Dataset Dataset::prefetch(int64_t bufferSize) const {
  if (bufferSize < 1)
    throw Error(ErrorKind::value_error, fmt::format("buffer_size must be positive, got {}", bufferSize));
  auto begin = rep_->each([bufferSize](Next next) { return prefetched(std::move(next), bufferSize); });
  return Dataset(std::make_shared<Rep>(Rep{begin, rep_->cardinality, rep_->isEndless}));
}
std::optional<int64_t> Dataset::cardinality() const { return rep_->cardinality; }

Dataset::iterator Dataset::begin() const {
  const std::shared_ptr<Rep> rep = rep_; // users' code may destroy this handle
  return iterator(rep->begin()());
}
Dataset::iterator::iterator(Next next) : next_(std::move(next)) { ++*this; }
const Batch &Dataset::iterator::operator*() const {
  if (!batch_)
    throw Error(ErrorKind::value_error, "A Dataset's iterator has no batch: it is at the end, or was moved from");
  return *batch_;
}
Dataset::iterator &Dataset::iterator::operator++() {
  if (!next_)
    throw Error(ErrorKind::value_error, "A Dataset's iterator reads nothing: it is that of end(), or was moved from");
  std::optional<Batch> batch = next_();
  batch_ = batch ? std::make_shared<Batch>(std::move(*batch)) : nullptr;
  return *this;
}

} // namespace halftone
