// timeseries_dataset_from_array: windows compared with a plain loop, shuffles, and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/DataPreparation.h"
#include "tests/frontend/data/Elements.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using utils::timeseries_dataset_from_array;
using utils::TimeseriesArgs;

namespace {
/// The numbers and the target of each window, for the steps 0, 1, 2, ... and the targets 100, 101, 102, ...
std::vector<std::vector<float>> windowsByLoop(int64_t steps, int64_t targets, int64_t length,
                                              const TimeseriesArgs &args) {
  const int64_t start = args.start_index.value_or(0), end = args.end_index.value_or(steps);
  std::vector<std::vector<float>> windows;
  for (int64_t first = start; first + (length - 1) * args.sampling_rate < end && first < targets;
       first += args.sequence_stride) {
    windows.emplace_back();
    for (int64_t i = 0; i < length; ++i)
      windows.back().push_back(static_cast<float>(first + i * args.sampling_rate));
    windows.back().push_back(static_cast<float>(100 + first));
  }
  return windows;
}
std::vector<std::vector<float>> windowsOf(const Dataset &data, int64_t length) {
  std::vector<std::vector<float>> windows;
  for (const Batch &batch : data) {
    const std::vector<float> x = batch.x[0].to_vector<float>(), y = batch.y[0].to_vector<float>();
    for (size_t i = 0; i < y.size(); ++i) {
      windows.emplace_back(x.begin() + std::ptrdiff_t(i) * length, x.begin() + std::ptrdiff_t(i + 1) * length);
      windows.back().push_back(y[i]);
    }
  }
  return windows;
}
Tensor targetsTo(int64_t count) { return countedTo(count) + 100.0; }
} // namespace

TEST_CASE("Windows of a time series are those of a plain loop") {
  for (const int64_t steps : {2, 7, 30})
    for (const int64_t length : {1, 2, 5})
      for (const int64_t rate : {1, 3})
        for (const int64_t stride : {1, 4})
          for (const int64_t start : {0, 1}) {
            TimeseriesArgs args{.sequence_stride = stride, .sampling_rate = rate, .batch_size = 4};
            if (rate >= steps || stride >= steps)
              continue;
            if (start > 0)
              args.start_index = start;
            const Dataset data = timeseries_dataset_from_array(countedTo(steps), targetsTo(steps), length, args);
            const auto expected = windowsByLoop(steps, steps, length, args);
            CHECK(windowsOf(data, length) == expected);
            CHECK(data.cardinality() == (std::ssize(expected) + 3) / 4);
            if (steps > 10) {
              args.end_index = 11;
              CHECK(windowsOf(timeseries_dataset_from_array(countedTo(steps), targetsTo(8), length, args), length) ==
                    windowsByLoop(steps, 8, length, args));
            }
          }
}

TEST_CASE("Windows keep further axes and the dtype, come without targets, and one by one") {
  const Tensor data = Tensor::ones({10, 2, 3}, uint8);
  const Dataset batches = timeseries_dataset_from_array(data, Tensor{}, 4);
  CHECK(batches.cardinality() == 1);
  for (const Batch &batch : batches) {
    CHECK(batch.x[0].shape() == Shape{7, 4, 2, 3});
    CHECK(batch.x[0].dtype() == uint8);
    CHECK(batch.y.empty());
  }
  const Dataset single = timeseries_dataset_from_array(data, Tensor::ones({10, 5}), 4, {.batch_size = {}});
  CHECK(single.cardinality() == 7);
  CHECK((*single.begin()).x[0].shape() == Shape{4, 2, 3});
  CHECK((*single.begin()).y[0].shape() == Shape{5});
  CHECK(timeseries_dataset_from_array(data, Tensor{}, 11).cardinality() == 0);
  CHECK(numbersOf(timeseries_dataset_from_array(data, Tensor{}, 11)).empty());
  CHECK(numbersOf(batches.unbatch().take(2)).size() == 48);
}

TEST_CASE("Shuffled windows are all windows, in an order that follows from the seed and differs between passes") {
  const auto shuffled = [] {
    return timeseries_dataset_from_array(countedTo(40), targetsTo(40), 3,
                                         {.batch_size = 7, .shuffle = true, .seed = 5});
  };
  const Dataset data = shuffled();
  auto first = windowsOf(data, 3);
  CHECK(windowsOf(data, 3) != first);
  CHECK(windowsOf(shuffled(), 3) == first);
  std::ranges::sort(first);
  CHECK(first == windowsByLoop(40, 40, 3, {}));
}

TEST_CASE("timeseries_dataset_from_array refuses counts and indices outside of the data") {
  const auto error = [](const TimeseriesArgs &args, int64_t length = 2) {
    return [=] { (void)timeseries_dataset_from_array(countedTo(10), Tensor{}, length, args); };
  };
  CHECK_THROWS_WITH(error({.sequence_stride = 0})(),
                    Contains("`sequence_stride` must be higher than 0. Received: sequence_stride=0"));
  CHECK_THROWS_WITH(error({.sequence_stride = 10})(),
                    Contains("`sequence_stride` must be lower than the length of the data, 10"));
  CHECK_THROWS_WITH(error({.sampling_rate = 0})(), Contains("`sampling_rate` must be higher than 0"));
  CHECK_THROWS_WITH(error({.sampling_rate = 10})(), Contains("`sampling_rate` must be lower than the length"));
  CHECK_THROWS_WITH(error({.batch_size = 0})(), Contains("`batch_size` must be higher than 0"));
  CHECK_THROWS_WITH(error({.start_index = -1})(), Contains("`start_index` must be 0 or greater"));
  CHECK_THROWS_WITH(error({.start_index = 10})(), Contains("`start_index` must be lower than the length"));
  CHECK_THROWS_WITH(error({.end_index = 10})(), Contains("`end_index` must be lower than the length"));
  CHECK_THROWS_WITH(error({.end_index = 0})(), Contains("`end_index` must be higher than 0"));
  CHECK_THROWS_WITH(error({.start_index = 4, .end_index = 4})(),
                    Contains("`end_index` must be higher than `start_index`, 4"));
  CHECK_THROWS_WITH(error({}, 0)(), Contains("`sequence_length` must be higher than 0"));
  CHECK(timeseries_dataset_from_array(countedTo(10), Tensor{}, INT64_MAX).cardinality() == 0);
  CHECK_THROWS_WITH(timeseries_dataset_from_array(Tensor::ones({}), Tensor{}, 2), Contains("need a time axis"));
}
