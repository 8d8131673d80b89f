// The inside of a Dataset, for the files that make datasets.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/DatasetAccess.h"
#include "halftone/Data.h"
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace halftone {
namespace detail {

using NextElement = std::function<std::optional<Batch>()>;
/// Starts a pass over the data. An iteration has one of its own, and makes several passes under repeat(), one after the
/// other, perhaps on a thread that reads ahead.
using StartPass = std::function<NextElement()>;

/// The elements of the batches of a dataset that ends with batch(), with or without prefetch() after it.
struct BatchedElements {
  int64_t size;                 // of a batch
  std::optional<int64_t> count; // of all elements
};

} // namespace detail

struct Dataset::Rep {
  /// Begins an iteration, on the thread that asks for it: what is random is drawn there, so that the elements do not depend
  /// on how far a thread reads ahead.
  std::function<detail::StartPass()> begin;
  std::optional<int64_t> cardinality;
  bool isEndless = false;
  bool isFixed = false;     // whether all passes have the same elements, and no function of the user's makes them
  bool isReadAhead = false; // whether the last step is prefetch()
  std::optional<detail::BatchedElements> batched{};
  detail::ShuffleCounts shuffles{}; // of the steps before

  /// A dataset whose passes are `f` of this one's. It has as many elements.
  template <class F> Rep each(F f) const {
    Rep rep = *this;
    rep.batched.reset();
    rep.isReadAhead = false;
    rep.begin = [before = begin, f = std::move(f)]() -> detail::StartPass {
      return [start = before(), f] { return f(start()); };
    };
    return rep;
  }
};

namespace detail {

inline Dataset DatasetAccess::make(Dataset::Rep rep) { return Dataset(std::make_shared<Dataset::Rep>(std::move(rep))); }
inline const Dataset::Rep &DatasetAccess::rep(const Dataset &dataset) { return *dataset.rep_; }

/// A pass over elements that are in memory.
using ElementsInMemory = std::shared_ptr<const std::vector<Batch>>;
NextElement fromMemory(ElementsInMemory elements);

/// A row of each tensor, without the leading axis.
Batch rowOf(const Batch &arrays, int64_t row);

/// A sequence of random numbers for each iteration. Those with a seed follow from it and from how many iterations have begun.
class ShuffleSeeds {
public:
  explicit ShuffleSeeds(std::optional<int64_t> seed) : seed_(seed) {}
  int64_t next();
  const std::shared_ptr<std::atomic<int64_t>> &begun() const { return begun_; }

private:
  std::optional<int64_t> seed_;
  std::shared_ptr<std::atomic<int64_t>> begun_ = std::make_shared<std::atomic<int64_t>>(0);
};

} // namespace detail
} // namespace halftone
