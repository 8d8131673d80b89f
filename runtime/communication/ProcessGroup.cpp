// Runs collectives one after the other.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/communication/ProcessGroup.h"
#include <chrono>

namespace halftone {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

ProcessGroup::ProcessGroup(std::unique_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)), collectives_(*communicator_), thread_([this] { serve(); }) {}

ProcessGroup::~ProcessGroup() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

uint64_t ProcessGroup::start(Work work) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    open_.push_back(std::move(work));
    number = ++started_;
  }
  changed_.notify_all();
  return number;
}

Status ProcessGroup::wait(uint64_t number) {
  std::unique_lock lock(mutex_);
  const Clock::time_point start = Clock::now();
  while (done_ < number) {
    if (!running_ && !open_.empty())
      runNext(lock);
    else
      changed_.wait(lock);
  }
  times_.waited += secondsSince(start);
  return failure_;
}

GroupTimes ProcessGroup::times() {
  const std::lock_guard lock(mutex_);
  return times_;
}

/// Runs the oldest open work, without the lock.
void ProcessGroup::runNext(std::unique_lock<std::mutex> &lock) {
  const Work work = std::move(open_.front());
  open_.pop_front();
  running_ = true;
  Status status = failure_;
  const Clock::time_point start = Clock::now();
  if (status.isOk()) {
    lock.unlock();
    status = work(collectives_);
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
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || (!running_ && !open_.empty()); });
    if (stopping_)
      return;
    runNext(lock);
  }
}

} // namespace halftone
