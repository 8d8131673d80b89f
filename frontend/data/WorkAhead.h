// Threads that read elements ahead, apply a function to them, and deliver them in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Error.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/Threads.h"
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace halftone::detail {

/// See workedAhead().
template <class T> class WorkAhead {
  static constexpr int64_t maxThreads = 256;
  struct Element {
    std::optional<T> value;
    std::exception_ptr error;
    bool isReady = false;
  };

public:
  WorkAhead(std::function<std::optional<T>()> next, std::function<T(T)> f, int64_t threads, int64_t ahead)
      : next_(std::move(next)), f_(std::move(f)), ahead_(static_cast<size_t>(ahead)) {
    for (int64_t i = 0; i < std::min<int64_t>(threads, maxThreads); ++i)
      if (std::optional<std::thread> thread = startThread([this] { work(); }))
        threads_.push_back(std::move(*thread));
      else
        break; // the threads that have started do all of the work
  }
  ~WorkAhead() {
    {
      const std::lock_guard lock(mutex_);
      isOver_ = true;
    }
    changed_.notify_all();
    for (std::thread &thread : threads_)
      thread.join();
  }
  bool isHere() const { return forks_ == forkCount(); } // a forked child has no threads; locks may be held
  std::optional<T> take() {
    if (threads_.empty())
      return read();
    if (!isHere())
      throw Error(ErrorKind::runtime_error, "the read-ahead thread of this epoch stayed in the parent process of "
                                            "fork(): begin another epoch, or fork before an epoch begins");
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return elements_.empty() ? isOver_ && !isReading_ : elements_.front()->isReady; });
    if (elements_.empty())
      return std::nullopt;
    // The thread that computed the element may still hold a reference; it must not be the one that frees the reader's
    // element.
    Element element = std::exchange(*elements_.front(), {});
    elements_.pop_front();
    if (element.error) {
      isOver_ = true;
      elements_.clear();
    }
    changed_.notify_all();
    lock.unlock();
    if (element.error)
      std::rethrow_exception(std::move(element.error));
    return std::move(element.value);
  }

private:
  std::optional<T> read() {
    std::optional<T> element = next_();
    return element && f_ ? f_(std::move(*element)) : element;
  }
  void work() {
    const FloatMode mode;
    while (const std::shared_ptr<Element> element = nextElement()) {
      if (f_ && element->value)
        guarded(*element, [&] { element->value = f_(std::move(*element->value)); });
      const std::lock_guard lock(mutex_);
      element->isReady = true;
      changed_.notify_all();
    }
  }
  /// Reads the next element from the source and appends it to the queue. Returns null at the end.
  std::shared_ptr<Element> nextElement() {
    const std::lock_guard turn(turn_);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return isOver_ || elements_.size() < ahead_; });
      if (isOver_)
        return nullptr;
      isReading_ = true;
    }
    auto element = std::make_shared<Element>();
    guarded(*element, [&] { element->value = next_(); });
    const bool isEnd = !element->value;
    const std::lock_guard lock(mutex_);
    isReading_ = false;
    if (!isOver_ && (!isEnd || element->error))
      elements_.push_back(element);
    isOver_ |= isEnd;
    changed_.notify_all();
    return isEnd && !element->error ? nullptr : element;
  }
  template <class F> static void guarded(Element &element, F f) {
    try {
      f();
    } catch (...) {
      element.value.reset();
      element.error = std::current_exception();
    }
  }

  std::function<std::optional<T>()> next_;
  std::function<T(T)> f_; // or null
  size_t ahead_;
  int64_t forks_ = forkCount();
  std::mutex turn_; // held by the thread that reads the source
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Element>> elements_; // the queue of elements not yet delivered
  bool isReading_ = false, isOver_ = false;       // isOver_: no more elements are read
  std::vector<std::thread> threads_;
};

/// Prefetches the elements of `next`, mapped by `f` unless it is null, on `threads` threads, up to `ahead` elements
/// ahead of the reader. Calls of `next` never overlap, and the elements keep its order. An error ends the sequence and
/// is rethrown to the reader. If the system cannot start a thread, the reader's thread does the work.
template <class T>
std::function<std::optional<T>()> workedAhead(std::function<std::optional<T>()> next, std::function<T(T)> f,
                                              int64_t threads, int64_t ahead) {
  auto drop = [](const WorkAhead<T> *work) {
    if (work->isHere())
      delete work;
  };
  const std::shared_ptr<WorkAhead<T>> work(new WorkAhead<T>(std::move(next), std::move(f), threads, ahead), drop);
  return [work] { return work->take(); };
}

} // namespace halftone::detail
