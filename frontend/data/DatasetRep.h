// The implementation of a Dataset, for the files that create datasets.
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
/// Starts a pass over the data. Each iteration has its own StartPass. Under repeat() it makes several passes in
/// sequence, possibly on a thread that reads ahead.
using StartPass = std::function<NextElement()>;

/// The batches of a dataset that ends with batch(), with or without a prefetch() after it.
struct BatchedElements {
  int64_t size;                 // of a batch
  std::optional<int64_t> count; // elements in total
};

} // namespace detail

struct Dataset::Rep {
  /// Begins an iteration, on the thread that requests it. Its random seeds are drawn there, so the elements do not
  /// depend on how far a thread reads ahead.
  std::function<detail::StartPass()> begin;
  std::optional<int64_t> cardinality;
  bool isEndless = false;
  bool isFixed = false;     // all passes have the same elements, and none come from a user's function
  bool isReadAhead = false; // the last step is prefetch()
  std::optional<detail::BatchedElements> batched{};
  detail::ShuffleCounts shuffles{}; // of the shuffles so far

  /// A dataset that applies `f` to each pass of this one. It has the same number of elements.
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

/// A pass over elements in memory.
using ElementsInMemory = std::shared_ptr<const std::vector<Batch>>;
NextElement fromMemory(ElementsInMemory elements);

/// One row of each tensor, without the leading axis.
Batch rowOf(const Batch &arrays, int64_t row);

/// The random seed of each iteration. With a seed, it is a function of that seed and of the number of iterations begun
/// before.
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
