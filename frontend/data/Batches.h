// Rows of arrays: checking, gathering and shuffling.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Data.h"
#include "runtime/TensorAccess.h"
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace halftone::detail {

/// The number of rows that all tensors share. value_error if the numbers differ, a tensor is a scalar or undefined, or
/// there are no tensors.
int64_t checkRows(const Batch &arrays);

/// value_error unless `count` is at least 1; the error names the argument.
void requirePositive(const char *argument, int64_t count);

/// value_error if the integer dtype cannot represent the padding value `number` of the function `caller`.
void requireHeld(const char *caller, double number, DType dtype);

/// A new tensor of the given rows of `source`, in that order.
Tensor gatherRows(const Tensor &source, std::span<const int64_t> rows);
/// Equal tensors stacked along a new leading axis. value_error when they differ in shape or dtype.
Tensor stackRows(const std::vector<Tensor> &rows);
/// Elements stacked along a new leading axis. value_error if their tensors differ in number or names.
Batch stackElements(const std::vector<Batch> &elements);
/// Concatenates tensors along the leading axis.
Tensor concatenateRows(const std::vector<Tensor> &parts);
/// The given rows of every tensor; a view if the rows are consecutive.
Batch gatherBatch(const Batch &arrays, std::span<const int64_t> rows);

/// Applies f to each tensor and keeps the names.
template <class F> Batch mapTensors(const Batch &batch, F f) {
  auto all = [&](const Tensors &tensors) {
    std::vector<Tensor> list;
    for (const Tensor &tensor : tensors)
      list.push_back(f(tensor));
    return TensorAccess::named(std::move(list), tensors.names());
  };
  return {all(batch.x), all(batch.y), all(batch.sample_weight)};
}

/// A random number generator for shuffles, with the same results on every machine.
class ShuffleOrder {
public:
  explicit ShuffleOrder(int64_t seed) : engine_(static_cast<uint64_t>(seed)) {}
  uint64_t below(uint64_t n); // a random integer in [0, n)
  void shuffle(std::span<int64_t> order);

private:
  std::mt19937_64 engine_;
};

} // namespace halftone::detail
