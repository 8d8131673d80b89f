// Datasets: pipelines of batches over arrays and generators.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/NameList.h"
#include "frontend/base/RandomSeeds.h"
#include "frontend/data/Batches.h"
#include "halftone/Data.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

using Next = std::function<std::optional<Batch>()>;

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

Next shuffled(Next next, int64_t bufferSize, int64_t seed) {
  auto buffer = std::make_shared<std::vector<Batch>>();
  return [next = std::move(next), buffer, order = ShuffleOrder(seed), bufferSize]() mutable -> std::optional<Batch> {
    while (static_cast<int64_t>(buffer->size()) < bufferSize)
      if (std::optional<Batch> element = next())
        buffer->push_back(std::move(*element));
      else
        break;
    if (buffer->empty())
      return std::nullopt;
    std::swap((*buffer)[order.below(buffer->size())], buffer->back());
    Batch chosen = std::move(buffer->back());
    buffer->pop_back();
    return chosen;
  };
}

} // namespace

struct Dataset::Rep {
  std::function<Next()> makeEpoch;
  std::optional<int64_t> cardinality;
};

Dataset::Dataset(const Dataset &) = default;
Dataset::Dataset(Dataset &&other) noexcept : rep_(other.rep_) {} // copies, so that a moved-from dataset stays whole
Dataset &Dataset::operator=(const Dataset &) & = default;
Dataset &Dataset::operator=(Dataset &&other) & noexcept { return *this = static_cast<const Dataset &>(other); }
Dataset::~Dataset() = default;
Dataset::Dataset(std::shared_ptr<Rep> rep) : rep_(std::move(rep)) {}

Dataset::Dataset(const Tensors &x, const Tensors &y, const Tensors &sampleWeight) {
  Batch arrays{x, y, sampleWeight};
  int64_t rows = checkRows(arrays);
  auto makeEpoch = [arrays, rows]() -> Next {
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
  rep_ = std::make_shared<Rep>(Rep{makeEpoch, rows});
}

Dataset Dataset::from_generator(std::function<std::function<std::optional<Batch>()>()> makeEpoch,
                                std::optional<int64_t> cardinality) {
  if (!makeEpoch)
    throw Error(ErrorKind::value_error, "Dataset::from_generator needs a function that starts an epoch");
  if (cardinality && *cardinality < 0)
    throw Error(
        ErrorKind::value_error,
        fmt::format("cardinality must not be negative, got {}; leave it out when it is not known", *cardinality));
  auto makeNext = [makeEpoch = std::move(makeEpoch), cardinality] { return bounded(makeEpoch(), cardinality); };
  return Dataset(std::make_shared<Rep>(Rep{std::move(makeNext), cardinality}));
}

Dataset Dataset::batch(int64_t size, bool dropRemainder) const {
  if (size < 1)
    throw Error(ErrorKind::value_error, fmt::format("batch_size must be positive, got {}", size));
  std::optional<int64_t> count;
  if (rep_->cardinality)
    count = *rep_->cardinality / size + (!dropRemainder && *rep_->cardinality % size != 0);
  return Dataset(std::make_shared<Rep>(
      Rep{[rep = rep_, size, dropRemainder] { return batched(rep->makeEpoch(), size, dropRemainder); }, count}));
}
Dataset Dataset::shuffle(int64_t bufferSize, std::optional<int64_t> seed) const {
  if (bufferSize < 1)
    throw Error(ErrorKind::value_error, fmt::format("buffer_size must be positive, got {}", bufferSize));
  // A seed gives one sequence of epochs; each epoch has its own order.
  auto epoch = std::make_shared<int64_t>(0);
  return Dataset(std::make_shared<Rep>(Rep{[rep = rep_, bufferSize, seed, epoch] {
                                             return shuffled(rep->makeEpoch(), bufferSize,
                                                             seed ? *seed + 7919 * (*epoch)++ : nextSeed());
                                           },
                                           rep_->cardinality}));
}
Dataset Dataset::map(std::function<Batch(Batch)> f) const {
  if (!f)
    throw Error(ErrorKind::value_error, "Dataset::map needs a function that can be called; an empty one was given");
  auto makeEpoch = [rep = rep_, f = std::move(f)]() -> Next {
    return [next = rep->makeEpoch(), f]() -> std::optional<Batch> {
      if (std::optional<Batch> batch = next())
        return f(std::move(*batch));
      return std::nullopt;
    };
  };
  return Dataset(std::make_shared<Rep>(Rep{makeEpoch, rep_->cardinality}));
}
Dataset Dataset::take(int64_t count) const {
  if (count < 0)
    throw Error(ErrorKind::value_error, fmt::format("take: count must not be negative, got {}", count));
  auto makeEpoch = [rep = rep_, count]() -> Next {
    return [next = rep->makeEpoch(), count, i = int64_t{0}]() mutable -> std::optional<Batch> {
      return i++ < count ? next() : std::nullopt;
    };
  };
  return Dataset(std::make_shared<Rep>(
      Rep{makeEpoch, rep_->cardinality ? std::min(count, *rep_->cardinality) : rep_->cardinality}));
}
Dataset Dataset::prefetch(int64_t bufferSize) const {
  if (bufferSize < 1)
    throw Error(ErrorKind::value_error, fmt::format("buffer_size must be positive, got {}", bufferSize));
  return Dataset(std::make_shared<Rep>(
      Rep{[rep = rep_, bufferSize] { return prefetched(rep->makeEpoch(), bufferSize); }, rep_->cardinality}));
}
std::optional<int64_t> Dataset::cardinality() const { return rep_->cardinality; }

Dataset::iterator Dataset::begin() const {
  const std::shared_ptr<Rep> rep = rep_; // users' code may destroy this handle
  return iterator(rep->makeEpoch());
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
