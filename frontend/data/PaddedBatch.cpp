// padded_batch: batches of elements of different extents, optionally in buckets by length.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/Batches.h"
#include "frontend/data/DatasetRep.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

using Part = Tensors Batch::*;

/// `tensor` in the leading corner of a tensor of shape `dims`; the other elements are `value`.
Tensor padded(const Tensor &tensor, const std::vector<int64_t> &dims, double value) {
  if (tensor.shape().dims() == dims)
    return tensor;
  requireHeld("padded_batch", value, tensor.dtype());
  Tensor result = Tensor::full(Shape(dims), value, tensor.dtype());
  const Tensor host = TensorAccess::onHost(tensor);
  const std::vector<int64_t> &from = tensor.shape().dims();
  if (std::ranges::find(from, 0) != from.end())
    return result;
  const auto width = static_cast<int64_t>(itemsize(tensor.dtype()));
  const int64_t line = from.back() * width;
  const std::byte *source = TensorAccess::data(host);
  std::byte *target = TensorAccess::mutableData(result);
  std::vector<int64_t> index(from.size(), 0); // of a row along the last axis
  for (;;) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      offset = offset * dims[axis] + index[axis];
    std::memcpy(target + offset * width, source, static_cast<size_t>(line));
    source += line;
    size_t axis = from.size() - 1;
    while (axis > 0 && ++index[axis - 1] == from[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return result;
  }
}

/// Pads each tensor of one part of the elements to the largest extents, and the first axis to `length` if given.
void padPart(std::vector<Batch> &elements, Part part, std::optional<int64_t> length, double value) {
  for (size_t i = 0; i < (elements[0].*part).size(); ++i) {
    std::vector<int64_t> dims = (elements[0].*part)[i].shape().dims();
    for (const Batch &element : elements) {
      if (i >= (element.*part).size())
        return; // stackElements() reports differing structures
      const std::vector<int64_t> &own = (element.*part)[i].shape().dims();
      if (own.size() != dims.size())
        throw Error(ErrorKind::value_error,
                    fmt::format("padded_batch: cannot pad elements of different ranks, {} and {}",
                                (elements[0].*part)[i].shape().str(), (element.*part)[i].shape().str()));
      for (size_t axis = 0; axis < dims.size(); ++axis)
        dims[axis] = std::max(dims[axis], own[axis]);
    }
    if (length && !dims.empty()) {
      if (dims[0] > *length)
        throw Error(ErrorKind::value_error, fmt::format("padded_batch: a tensor has {} steps, but the bucket, which "
                                                        "the first tensor of x determines, allows at most {}",
                                                        dims[0], *length));
      dims[0] = *length;
    }
    for (Batch &element : elements) {
      std::vector<Tensor> tensors((element.*part).begin(), (element.*part).end());
      tensors[i] = padded(tensors[i], dims, value);
      element.*part = TensorAccess::named(std::move(tensors), (element.*part).names());
    }
  }
}

Batch paddedStack(std::vector<Batch> elements, std::optional<int64_t> length, const PaddedBatchArgs &args) {
  const std::optional<int64_t> ofTargets = args.pad_y ? length : std::nullopt;
  padPart(elements, &Batch::x, length, args.padding_value);
  padPart(elements, &Batch::y, ofTargets, args.padding_value);
  padPart(elements, &Batch::sample_weight, ofTargets, 0.0);
  return stackElements(elements);
}

/// The index of an element's bucket.
size_t bucketOf(const Batch &element, const std::vector<int64_t> &boundaries) {
  if (boundaries.empty())
    return 0;
  if (element.x.empty() || element.x[0].shape().rank() < 1)
    throw Error(ErrorKind::value_error, "padded_batch: bucket_boundaries requires elements whose x has a time axis");
  const int64_t length = element.x[0].shape()[0];
  const auto bucket = std::ranges::lower_bound(boundaries, length);
  if (bucket == boundaries.end())
    throw Error(ErrorKind::value_error,
                fmt::format("padded_batch: an element has {} steps, more than the last of bucket_boundaries, {}",
                            length, boundaries.back()));
  return static_cast<size_t>(bucket - boundaries.begin());
}

NextElement paddedBatches(NextElement next, int64_t size, const PaddedBatchArgs &args) {
  const size_t count = std::max<size_t>(1, args.bucket_boundaries.size());
  return [next = std::move(next), size, args, buckets = std::vector<std::vector<Batch>>(count),
          isOver = false]() mutable -> std::optional<Batch> {
    const auto give = [&](size_t bucket) {
      std::optional<int64_t> length;
      if (!args.bucket_boundaries.empty())
        length = args.bucket_boundaries[bucket];
      return paddedStack(std::exchange(buckets[bucket], {}), length, args);
    };
    while (!isOver) {
      std::optional<Batch> element = next();
      isOver = !element;
      if (isOver)
        break;
      const size_t bucket = bucketOf(*element, args.bucket_boundaries);
      buckets[bucket].push_back(std::move(*element));
      if (std::ssize(buckets[bucket]) == size)
        return give(bucket);
    }
    for (size_t bucket = 0; bucket < buckets.size() && !args.drop_remainder; ++bucket)
      if (!buckets[bucket].empty())
        return give(bucket);
    return std::nullopt;
  };
}

} // namespace

Dataset Dataset::padded_batch(int64_t size, const PaddedBatchArgs &args) const {
  requirePositive("batch_size", size);
  const std::vector<int64_t> &boundaries = args.bucket_boundaries;
  for (size_t i = 0; i < boundaries.size(); ++i)
    if (boundaries[i] < 1 || (i > 0 && boundaries[i] <= boundaries[i - 1]))
      throw Error(ErrorKind::value_error, fmt::format("bucket_boundaries must be positive and ascending, got [{}]",
                                                      fmt::join(boundaries, ", ")));
  Rep rep = rep_->each([size, args](NextElement next) { return paddedBatches(std::move(next), size, args); });
  const std::optional<int64_t> count = rep_->cardinality;
  if (count && (boundaries.size() <= 1 || *count == 0))
    rep.cardinality = *count / size + (!args.drop_remainder && *count % size != 0);
  else
    rep.cardinality.reset();
  return DatasetAccess::make(std::move(rep));
}

} // namespace halftone
