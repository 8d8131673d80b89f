// Rows of arrays: checks, gathers, shuffles and reads them ahead.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Data.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace halftone::detail {

/// The count of rows, which all tensors share. value_error when counts differ, a tensor is a scalar or undefined, or
/// there are no tensors.
int64_t checkRows(const Batch &arrays);

/// A new tensor of the given rows of `source`, in that order.
Tensor gatherRows(const Tensor &source, std::span<const int64_t> rows);
/// Equal tensors stacked along a new leading axis. value_error when they differ in shape or dtype.
Tensor stackRows(const std::vector<Tensor> &rows);
/// Tensors one after the other along the leading axis.
Tensor concatenateRows(const std::vector<Tensor> &parts);
/// The same rows of every tensor; a view if the rows are consecutive.
Batch gatherBatch(const Batch &arrays, std::span<const int64_t> rows);

/// Random orders that are the same on every machine.
class ShuffleOrder {
public:
  explicit ShuffleOrder(int64_t seed) : engine_(static_cast<uint64_t>(seed)) {}
  uint64_t below(uint64_t n); // a random integer of 0 .. n - 1
  void shuffle(std::span<int64_t> order);

private:
  std::mt19937_64 engine_;
};

/// Calls `next` on a thread of its own, up to `count` batches ahead. If `next` throws, the reader of that batch gets
/// the exception.
std::function<std::optional<Batch>()> prefetched(std::function<std::optional<Batch>()> next, int64_t count);

} // namespace halftone::detail
