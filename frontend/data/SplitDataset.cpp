// split_dataset: the first and the last elements of a dataset.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/RandomSeeds.h"
#include "frontend/data/Batches.h"
#include "frontend/data/DatasetRep.h"
#include "halftone/DataPreparation.h"
#include "halftone/Error.h"
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace halftone {
using namespace detail;

namespace {

/// The number of elements that a size stands for.
int64_t countOf(const char *argument, double size, int64_t total) {
  const bool isShare = size > 0.0 && size < 1.0, isCount = size >= 1.0 && size == std::floor(size);
  if (!isShare && !(isCount && size < static_cast<double>(total)))
    throw Error(ErrorKind::value_error,
                fmt::format("`{}` should be either a positive integer smaller than {}, or a float within the range "
                            "`[0, 1]`. Received: {}={}",
                            argument, total, argument, size));
  return static_cast<int64_t>(isShare ? std::nearbyint(size * static_cast<double>(total)) : size);
}

std::pair<int64_t, int64_t> countsOf(std::optional<double> left, std::optional<double> right, int64_t total) {
  if (left && right && *left < 1.0 && *right < 1.0 && *left + *right > 1.0)
    throw Error(ErrorKind::value_error, "The sum of `left_size` and `right_size` is greater than 1. It must be less "
                                        "than or equal to 1.");
  const std::optional<int64_t> first = left ? std::optional(countOf("left_size", *left, total)) : std::nullopt,
                               last = right ? std::optional(countOf("right_size", *right, total)) : std::nullopt;
  const int64_t leftCount = first ? *first : total - *last, rightCount = last ? *last : total - leftCount;
  if (leftCount + rightCount > total)
    throw Error(ErrorKind::value_error,
                fmt::format("The sum of `left_size` and `right_size` should be smaller than the {}. Received: "
                            "left_size + right_size = {} and total_length = {}",
                            total, leftCount + rightCount, total));
  if (leftCount < 1 || rightCount < 1)
    throw Error(
        ErrorKind::value_error,
        fmt::format(
            "split_dataset: {} elements split into {} on the left and {} on the right; each part needs at least one",
            total, leftCount, rightCount));
  return {leftCount, rightCount};
}

/// The elements of one pass, as a dataset.
Dataset inMemory(const Dataset &dataset, const utils::SplitDatasetArgs &args) {
  std::vector<Batch> elements;
  for (const Batch &element : dataset)
    elements.push_back(element);
  if (args.shuffle) {
    std::vector<int64_t> order(elements.size());
    std::iota(order.begin(), order.end(), 0);
    ShuffleOrder(args.seed ? *args.seed : nextSeed()).shuffle(order);
    std::vector<Batch> shuffled;
    for (const int64_t i : order)
      shuffled.push_back(elements[static_cast<size_t>(i)]);
    elements = std::move(shuffled);
  }
  const int64_t count = std::ssize(elements);
  auto start = [all = std::make_shared<const std::vector<Batch>>(std::move(elements))] { return fromMemory(all); };
  return DatasetAccess::make({.begin = [start] { return start; }, .cardinality = count, .isFixed = true});
}

} // namespace

std::pair<Dataset, Dataset> utils::split_dataset(const Dataset &dataset, std::optional<double> left_size,
                                                 const SplitDatasetArgs &args) {
  if (!left_size && !args.right_size)
    throw Error(ErrorKind::value_error, "At least one of the `left_size` or `right_size` must be specified.");
  const DatasetAccess::Rep &rep = DatasetAccess::rep(dataset);
  if (rep.isEndless)
    throw Error(ErrorKind::value_error, "split_dataset: the dataset is infinite");
  const std::optional<BatchedElements> batched = rep.batched;
  Dataset elements = batched ? dataset.unbatch() : dataset;
  if (args.shuffle || !rep.isFixed || !elements.cardinality())
    elements = inMemory(elements, args);
  const int64_t total = *elements.cardinality();
  const auto [left, right] = countsOf(left_size, args.right_size, total);
  const Dataset first = elements.take(left), last = elements.skip(total - right);
  return batched ? std::pair(first.batch(batched->size), last.batch(batched->size)) : std::pair(first, last);
}

} // namespace halftone
