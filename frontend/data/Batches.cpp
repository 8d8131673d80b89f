// Gathers, shuffles and reads ahead rows of arrays.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/Batches.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/Threads.h"
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <mutex>
#include <thread>

namespace halftone::detail {

int64_t checkRows(const Batch &arrays) {
  std::optional<int64_t> rows;
  auto check = [&](const Tensors &tensors, const char *what) {
    for (const Tensor &tensor : tensors) {
      if (!tensor.defined())
        throw Error(ErrorKind::value_error, fmt::format("{} has an undefined Tensor", what));
      if (tensor.shape().rank() < 1)
        throw Error(ErrorKind::value_error, fmt::format("{} needs a leading sample axis, got a scalar", what));
      int64_t count = tensor.shape()[0];
      if (rows && *rows != count)
        throw Error(ErrorKind::value_error, fmt::format("Data cardinality is ambiguous. Make sure all arrays contain "
                                                        "the same number of samples. '{}' has {}, x has {}",
                                                        what, count, *rows));
      rows = count;
    }
  };
  check(arrays.x, "x");
  check(arrays.y, "y");
  check(arrays.sample_weight, "sample_weight");
  if (!rows)
    throw Error(ErrorKind::value_error, "no data was given: x is empty");
  return *rows;
}

/// A tensor of strings whose rows are those that `rowOf` gives, `count` of them.
template <class RowOf> static Tensor gatherStrings(Shape shape, size_t rows, RowOf rowOf) {
  std::vector<std::string> strings;
  strings.reserve(static_cast<size_t>(shape.elements()));
  for (size_t row = 0; row < rows; ++row) {
    const std::span<const std::string> elements = rowOf(row);
    strings.insert(strings.end(), elements.begin(), elements.end());
  }
  return TensorAccess::ofStrings(std::move(strings), std::move(shape));
}

Tensor gatherRows(const Tensor &source, std::span<const int64_t> rows) {
  std::vector<int64_t> dims = source.shape().dims();
  const int64_t count = dims[0];
  dims[0] = static_cast<int64_t>(rows.size());
  if (source.dtype() == DType::string)
    return gatherStrings(Shape(dims), rows.size(), [&](size_t i) {
      const size_t width = static_cast<size_t>(source.size() / count);
      return TensorAccess::strings(source).subspan(static_cast<size_t>(rows[i]) * width, width);
    });
  size_t rowBytes = count == 0 ? 0 : static_cast<size_t>(TensorAccess::bytes(source) / count);
  Tensor result = TensorAccess::allocate(source.dtype(), Shape(dims));
  const Tensor host = TensorAccess::onHost(source);
  const std::byte *from = TensorAccess::data(host);
  std::byte *to = TensorAccess::mutableData(result);
  for (int64_t row : rows) {
    std::memcpy(to, from + static_cast<size_t>(row) * rowBytes, rowBytes);
    to += rowBytes;
  }
  return result;
}

Tensor stackRows(const std::vector<Tensor> &rows) {
  std::vector<int64_t> dims = rows[0].shape().dims();
  dims.insert(dims.begin(), static_cast<int64_t>(rows.size()));
  for (const Tensor &row : rows)
    if (row.shape() != rows[0].shape() || row.dtype() != rows[0].dtype())
      throw Error(ErrorKind::value_error,
                  fmt::format("cannot batch elements of different types: {} {} and {} {}", name(rows[0].dtype()),
                              rows[0].shape().str(), name(row.dtype()), row.shape().str()));
  if (rows[0].dtype() == DType::string)
    return gatherStrings(Shape(dims), rows.size(), [&](size_t i) { return TensorAccess::strings(rows[i]); });
  Tensor result = TensorAccess::allocate(rows[0].dtype(), Shape(dims));
  std::byte *to = TensorAccess::mutableData(result);
  size_t rowBytes = static_cast<size_t>(TensorAccess::bytes(rows[0]));
  for (const Tensor &row : rows) {
    std::memcpy(to, TensorAccess::data(TensorAccess::onHost(row)), rowBytes);
    to += rowBytes;
  }
  return result;
}

Tensor concatenateRows(const std::vector<Tensor> &parts) {
  if (parts.size() == 1)
    return parts[0];
  std::vector<int64_t> dims = parts[0].shape().dims();
  dims.at(0) = 0;
  for (const Tensor &part : parts)
    dims[0] += part.shape()[0];
  if (parts[0].dtype() == DType::string)
    return gatherStrings(Shape(dims), parts.size(), [&](size_t i) { return TensorAccess::strings(parts[i]); });
  Tensor result = TensorAccess::allocate(parts[0].dtype(), Shape(dims));
  std::byte *to = TensorAccess::mutableData(result);
  for (const Tensor &part : parts) {
    std::memcpy(to, TensorAccess::data(TensorAccess::onHost(part)), static_cast<size_t>(TensorAccess::bytes(part)));
    to += TensorAccess::bytes(part);
  }
  return result;
}

Batch gatherBatch(const Batch &arrays, std::span<const int64_t> rows) {
  bool contiguous = true;
  for (size_t i = 1; i < rows.size(); ++i)
    contiguous &= rows[i] == rows[0] + static_cast<int64_t>(i);
  auto gather = [&](const Tensors &tensors) {
    std::vector<Tensor> list;
    for (const Tensor &tensor : tensors)
      list.push_back(contiguous && !rows.empty() ? tensor.slice(rows.front(), rows.back() + 1)
                                                 : gatherRows(tensor, rows));
    return TensorAccess::named(std::move(list), tensors.names());
  };
  return {gather(arrays.x), gather(arrays.y), gather(arrays.sample_weight)};
}

uint64_t ShuffleOrder::below(uint64_t n) {
  uint64_t limit = UINT64_MAX - UINT64_MAX % n; // larger draws would favour small results
  for (;;)
    if (uint64_t draw = engine_(); draw < limit)
      return draw % n;
}
void ShuffleOrder::shuffle(std::span<int64_t> order) {
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[below(i)]);
}

namespace {

/// A reader thread, and the batches that it has read ahead.
class Prefetcher {
public:
  Prefetcher(std::function<std::optional<Batch>()> next, size_t count)
      : next_(std::move(next)), count_(count), thread_(startThread([this] { read(); }).value_or(std::thread())) {}
  ~Prefetcher() {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable())
      thread_.join();
  }
  bool isHere() const { return forks_ == forkCount(); } // a forked child has no reader, and locks may be held
  std::optional<Batch> take() {
    if (!thread_.joinable())
      return next_(); // the system starts no thread
    if (!isHere())
      throw Error(ErrorKind::runtime_error, "the thread that reads ahead for this epoch stayed in the process that was "
                                            "forked: begin another epoch, or fork before one begins");
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || finished_; });
    if (ready_.empty()) {
      if (error_)
        std::rethrow_exception(std::exchange(error_, nullptr));
      return std::nullopt;
    }
    Batch batch = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return batch;
  }

private:
  void read() {
    const FloatMode mode;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopped_ || ready_.size() < count_; });
        if (stopped_)
          return;
      }
      std::optional<Batch> batch;
      std::exception_ptr error;
      try {
        batch = next_();
      } catch (...) {
        error = std::current_exception();
      }
      std::lock_guard lock(mutex_);
      if (batch)
        ready_.push_back(std::move(*batch));
      else {
        finished_ = true;
        error_ = error;
      }
      changed_.notify_all();
      if (finished_)
        return;
    }
  }

  std::function<std::optional<Batch>()> next_;
  size_t count_;
  int64_t forks_ = forkCount();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  std::exception_ptr error_;
  bool stopped_ = false, finished_ = false;
  std::thread thread_; // the last member: the thread uses all others
};

} // namespace

std::function<std::optional<Batch>()> prefetched(std::function<std::optional<Batch>()> next, int64_t count) {
  auto drop = [](const Prefetcher *prefetcher) {
    if (prefetcher->isHere())
      delete prefetcher;
  };
  std::shared_ptr<Prefetcher> prefetcher(new Prefetcher(std::move(next), static_cast<size_t>(count)), drop);
  return [prefetcher] { return prefetcher->take(); };
}

} // namespace halftone::detail
