// Runs collectives sequentially.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/communication/ProcessGroup.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/PerThread.h"
#include "runtime/base/Threads.h"
#include <chrono>
#include <cstdint>
#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace halftone {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Requests time slices of 0.1 ms for the calling thread. A thread with short slices is scheduled soon after it wakes
/// up, so a message does not wait until a compute thread has used up its slice of some milliseconds. The thread gets no
/// larger share of the processor. Takes effect on Linux 6.12 and later, and is a no-op before.
static void requestShortTimeSlices() {
  struct { // the kernel's sched_attr; linux/sched/types.h conflicts with sched.h
    uint32_t size = sizeof(*this), policy = 0;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 0, deadline = 0, period = 0; // nanoseconds
  } attributes;
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 && attributes.policy == SCHED_OTHER) {
    attributes.runtime = 100'000;
    (void)::syscall(SYS_sched_setattr, 0, &attributes, 0);
  }
}

static thread_local PerThread<std::string> scopeWords;

ExchangeScope::ExchangeScope(std::string_view words) : outer_(scopeWords->size()) {
  if (outer_ > 0)
    *scopeWords += ": ";
  *scopeWords += words;
}
ExchangeScope::~ExchangeScope() { scopeWords->resize(outer_); }
const std::string &ExchangeScope::words() { return *scopeWords; }

/// The label of an exchange. Long words are truncated, but never the number.
static std::string labelOf(std::string_view name, uint64_t number) {
  const std::string &scope = ExchangeScope::words();
  const std::string words = fmt::format("{}{}{}", scope, scope.empty() || name.empty() ? "" : ": ", name);
  constexpr size_t maxBytes = 190; // of labelBytes
  return fmt::format("{} (exchange {})", std::string_view(words).substr(0, maxBytes), number);
}

ProcessGroup::ProcessGroup(std::unique_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)), collectives_(*communicator_),
      thread_(startThread([this] { serve(); }).value_or(std::thread())) {}

ProcessGroup::~ProcessGroup() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

uint64_t ProcessGroup::start(std::string_view name, Work work) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++started_;
    open_.push_back({labelOf(name, number), std::move(work)});
  }
  changed_.notify_all();
  return number;
}

Status ProcessGroup::wait(uint64_t number) {
  std::unique_lock lock(mutex_);
  if (done_ >= number)
    return failure_;
  const Clock::time_point start = Clock::now();
  if (++waiting_ == 1)
    communicator_->setAwaited(true);
  while (done_ < number) {
    if (!running_ && !open_.empty())
      runNext(lock);
    else
      changed_.wait(lock);
  }
  if (--waiting_ == 0)
    communicator_->setAwaited(false);
  times_.waited += secondsSince(start);
  return failure_;
}

GroupTimes ProcessGroup::times() {
  const std::lock_guard lock(mutex_);
  return times_;
}

/// Runs the oldest open work without holding the lock.
void ProcessGroup::runNext(std::unique_lock<std::mutex> &lock) {
  Labelled next = std::move(open_.front());
  open_.pop_front();
  running_ = true;
  Status status = failure_;
  const Clock::time_point start = Clock::now();
  if (status.isOk()) {
    lock.unlock();
    collectives_.setLabel(std::move(next.label));
    status = next.work(collectives_);
    lock.lock();
  }
  failure_ = std::move(status);
  times_.seconds += secondsSince(start);
  ++times_.count;
  running_ = false;
  ++done_;
  changed_.notify_all();
}

void ProcessGroup::serve() {
  requestShortTimeSlices();
  const FloatMode mode;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || (!running_ && !open_.empty()); });
    if (stopping_)
      return;
    runNext(lock);
  }
}

} // namespace halftone
