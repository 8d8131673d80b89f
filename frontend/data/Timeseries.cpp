// timeseries_dataset_from_array: sliding windows of a series, gathered batch by batch.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/Batches.h"
#include "frontend/data/DatasetRep.h"
#include "halftone/DataPreparation.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

namespace halftone {
using namespace detail;

namespace {

void require(bool holds, const char *argument, const std::string &expected, int64_t got) {
  if (!holds)
    throw Error(ErrorKind::value_error,
                fmt::format("`{}` must be {}. Received: {}={}", argument, expected, argument, got));
}
void checkWindowArguments(int64_t steps, int64_t length, const utils::TimeseriesArgs &args) {
  const std::string below = fmt::format("lower than the length of the data, {}", steps);
  const int64_t start = args.start_index.value_or(0);
  require(start >= 0, "start_index", "0 or greater", start);
  require(start == 0 || start < steps, "start_index", below, start);
  if (args.end_index) {
    require(*args.end_index > 0, "end_index", "higher than 0", *args.end_index);
    require(*args.end_index > start, "end_index", fmt::format("higher than `start_index`, {}", start), *args.end_index);
    require(*args.end_index < steps, "end_index", below, *args.end_index);
  }
  require(length > 0, "sequence_length", "higher than 0", length);
  require(args.sampling_rate > 0, "sampling_rate", "higher than 0", args.sampling_rate);
  require(args.sampling_rate < steps, "sampling_rate", below, args.sampling_rate);
  require(args.sequence_stride > 0, "sequence_stride", "higher than 0", args.sequence_stride);
  require(args.sequence_stride < steps, "sequence_stride", below, args.sequence_stride);
  require(args.batch_size.value_or(1) > 0, "batch_size", "higher than 0", args.batch_size.value_or(1));
}

/// The windows of a series, addressed by index.
struct Windows {
  Tensor data, targets; // targets: undefined if there are none
  int64_t length, rate, stride, start, count;

  Batch gather(std::span<const int64_t> windows) const {
    std::vector<int64_t> dims = data.shape().dims(), firsts;
    const auto rowBytes = static_cast<size_t>(TensorAccess::bytes(data) / dims[0]);
    dims[0] = length;
    dims.insert(dims.begin(), std::ssize(windows));
    Tensor x = TensorAccess::allocate(data.dtype(), Shape(dims));
    std::byte *to = TensorAccess::mutableData(x);
    const std::byte *from = TensorAccess::data(data);
    const int64_t run = rate == 1 ? length : 1; // contiguous rows
    for (const int64_t window : windows) {
      firsts.push_back(start + window * stride);
      for (int64_t i = 0; i < length; i += run) {
        const size_t bytes = rowBytes * static_cast<size_t>(run);
        std::memcpy(to, from + rowBytes * static_cast<size_t>(firsts.back() + i * rate), bytes);
        to += bytes;
      }
    }
    return targets.defined() ? Batch{.x = x, .y = gatherRows(targets, firsts)} : Batch{.x = x};
  }
};

Windows windowsOf(const Tensor &data, const Tensor &targets, int64_t length, const utils::TimeseriesArgs &args) {
  const int64_t start = args.start_index.value_or(0), end = args.end_index.value_or(data.shape()[0]);
  int64_t firsts =
      length - 1 > (end - start) / args.sampling_rate ? 0 : end - start - (length - 1) * args.sampling_rate;
  if (targets.defined())
    firsts = std::min(firsts, targets.shape()[0] - start);
  const int64_t count = firsts > 0 ? (firsts - 1) / args.sequence_stride + 1 : 0;
  const auto onHost = [](const Tensor &tensor) { return tensor.defined() ? TensorAccess::onHost(tensor) : tensor; };
  return {onHost(data), onHost(targets), length, args.sampling_rate, args.sequence_stride, start, count};
}

} // namespace

Dataset utils::timeseries_dataset_from_array(const Tensor &data, const Tensor &targets, int64_t sequence_length,
                                             const TimeseriesArgs &args) {
  for (const Tensor &each : {data, targets})
    if (each.defined() && each.shape().rank() < 1)
      throw Error(ErrorKind::value_error, "timeseries_dataset_from_array: data and targets need a time axis");
  checkWindowArguments(data.shape()[0], sequence_length, args);
  const auto windows = std::make_shared<const Windows>(windowsOf(data, targets, sequence_length, args));
  const auto seeds = args.shuffle ? std::make_shared<ShuffleSeeds>(args.seed) : nullptr;
  const std::optional<int64_t> batchSize = args.batch_size;
  DatasetAccess::Rep rep{.begin = [windows, seeds, batchSize]() -> StartPass {
                           const auto random = seeds ? std::make_shared<ShuffleOrder>(seeds->next()) : nullptr;
                           return [windows, random, batchSize]() -> NextElement {
                             std::vector<int64_t> order(static_cast<size_t>(windows->count));
                             std::iota(order.begin(), order.end(), 0);
                             if (random)
                               random->shuffle(order);
                             return [windows, order, batchSize, done = size_t{0}]() mutable -> std::optional<Batch> {
                               if (done == order.size())
                                 return std::nullopt;
                               const size_t count =
                                   std::min(static_cast<size_t>(batchSize.value_or(1)), order.size() - done);
                               const Batch batch = windows->gather(std::span(order).subspan(done, count));
                               done += count;
                               return batchSize ? batch : rowOf(batch, 0);
                             };
                           };
                         },
                         .cardinality = windows->count,
                         .isFixed = !args.shuffle};
  if (batchSize) {
    rep.batched = BatchedElements{*batchSize, windows->count};
    rep.cardinality = windows->count == 0 ? 0 : (windows->count - 1) / *batchSize + 1;
  }
  if (seeds)
    rep.shuffles.push_back(seeds->begun());
  return DatasetAccess::make(std::move(rep));
}

} // namespace halftone
