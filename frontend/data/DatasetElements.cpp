// take, skip, filter, concatenate, unbatch and zip of datasets.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/Batches.h"
#include "frontend/data/DatasetRep.h"
#include "halftone/Error.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace halftone {
using namespace detail;

static void requireCount(const char *method, int64_t count) {
  if (count < 0)
    throw Error(ErrorKind::value_error, fmt::format("{}: count must not be negative, got {}", method, count));
}

Dataset Dataset::take(int64_t count) const {
  requireCount("take", count);
  Rep rep = rep_->each([count](NextElement next) -> NextElement {
    return [next = std::move(next), left = count]() mutable -> std::optional<Batch> {
      if (left == 0)
        return std::nullopt;
      --left;
      return next();
    };
  });
  if (rep.isEndless)
    rep.cardinality = count;
  else if (rep.cardinality)
    rep.cardinality = std::min(count, *rep.cardinality);
  else if (count == 0)
    rep.cardinality = 0;
  rep.isEndless = false;
  return DatasetAccess::make(std::move(rep));
}

Dataset Dataset::skip(int64_t count) const {
  requireCount("skip", count);
  Rep rep = rep_->each([count](NextElement next) -> NextElement {
    return [next = std::move(next), left = count]() mutable -> std::optional<Batch> {
      for (; left > 0; --left)
        if (!next()) {
          left = 0;
          return std::nullopt;
        }
      return next();
    };
  });
  if (rep.cardinality)
    rep.cardinality = std::max<int64_t>(0, *rep.cardinality - count);
  return DatasetAccess::make(std::move(rep));
}

Dataset Dataset::filter(std::function<bool(const Batch &)> keep) const {
  if (!keep)
    throw Error(ErrorKind::value_error, "Dataset::filter needs a function; received an empty one");
  Rep rep = rep_->each([keep = std::move(keep)](NextElement next) -> NextElement {
    return [next = std::move(next), keep]() -> std::optional<Batch> {
      while (std::optional<Batch> element = next())
        if (keep(*element))
          return element;
      return std::nullopt;
    };
  });
  if (rep.cardinality != 0)
    rep.cardinality.reset();
  rep.isFixed = false;
  return DatasetAccess::make(std::move(rep));
}

Dataset Dataset::concatenate(const Dataset &after) const {
  const std::shared_ptr<Rep> first = rep_, second = after.rep_;
  Rep rep{.begin = [first, second]() -> StartPass {
            return [one = first->begin(), other = second->begin()]() -> NextElement {
              // Begins the second pass only after the first one is over and its threads have ended.
              return [next = one(), other, isFirst = true]() mutable -> std::optional<Batch> {
                if (std::optional<Batch> element = next())
                  return element;
                if (!std::exchange(isFirst, false))
                  return std::nullopt;
                next = nullptr;
                next = other();
                return next();
              };
            };
          },
          .cardinality = {},
          .isEndless = first->isEndless || second->isEndless,
          .isFixed = first->isFixed && second->isFixed};
  if (first->cardinality && second->cardinality)
    rep.cardinality = extentSum(*first->cardinality, *second->cardinality);
  for (const ShuffleCounts &counts : {first->shuffles, second->shuffles})
    rep.shuffles.insert(rep.shuffles.end(), counts.begin(), counts.end());
  return DatasetAccess::make(std::move(rep));
}

Dataset Dataset::unbatch() const {
  Rep rep = rep_->each([](NextElement next) -> NextElement {
    return [next = std::move(next), batch = std::optional<Batch>(), row = int64_t{0},
            rows = int64_t{0}]() mutable -> std::optional<Batch> {
      while (row == rows) {
        batch = next();
        if (!batch)
          return std::nullopt;
        rows = checkRows(*batch);
        row = 0;
      }
      return rowOf(*batch, row++);
    };
  });
  if (rep.cardinality != 0)
    rep.cardinality = rep_->batched ? rep_->batched->count : std::nullopt;
  return DatasetAccess::make(std::move(rep));
}

/// x of an element of a dataset passed to zip().
static Tensors xAlone(Batch element, const char *argument) {
  if (!element.y.empty() || !element.sample_weight.empty())
    throw Error(
        ErrorKind::value_error,
        fmt::format(
            "Dataset::zip combines only x of each dataset, but the elements of `{}` also have y or sample_weight",
            argument));
  return std::move(element.x);
}

/// `datasets` holds the datasets of x, of y and, optionally, of the sample weights.
static Dataset zipped(const std::vector<Dataset> &datasets) {
  std::vector<std::function<StartPass()>> begins;
  DatasetAccess::Rep rep{.begin = {}, .cardinality = {}, .isEndless = true, .isFixed = true};
  bool isKnown = true;
  for (const Dataset &dataset : datasets) {
    const DatasetAccess::Rep &each = DatasetAccess::rep(dataset);
    begins.push_back(each.begin);
    rep.isEndless &= each.isEndless;
    rep.isFixed &= each.isFixed;
    rep.shuffles.insert(rep.shuffles.end(), each.shuffles.begin(), each.shuffles.end());
    isKnown &= each.cardinality || each.isEndless;
    if (each.cardinality)
      rep.cardinality = std::min(*each.cardinality, rep.cardinality.value_or(INT64_MAX));
  }
  if (!isKnown && rep.cardinality != 0)
    rep.cardinality.reset();
  rep.begin = [begins]() -> StartPass {
    std::vector<StartPass> starts;
    for (const std::function<StartPass()> &begin : begins)
      starts.push_back(begin());
    return [starts]() -> NextElement {
      std::vector<NextElement> nexts;
      for (const StartPass &start : starts)
        nexts.push_back(start());
      return [nexts, isOver = false]() mutable -> std::optional<Batch> {
        static constexpr const char *names[] = {"x", "y", "sample_weight"};
        Tensors parts[3];
        for (size_t i = 0; i < nexts.size() && !isOver; ++i)
          if (std::optional<Batch> element = nexts[i]())
            parts[i] = xAlone(std::move(*element), names[i]);
          else
            isOver = true;
        if (isOver)
          return std::nullopt;
        return Batch{std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
      };
    };
  };
  return DatasetAccess::make(std::move(rep));
}

Dataset Dataset::zip(const Dataset &x, const Dataset &y) { return zipped({x, y}); }
Dataset Dataset::zip(const Dataset &x, const Dataset &y, const Dataset &weights) { return zipped({x, y, weights}); }

} // namespace halftone
