// Counts the threads inside the library, and handles fork().
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ForkGate.h"
#include <atomic>
#include <pthread.h>
#include <utility>

namespace halftone {
namespace {

std::atomic<int> threadsInside{0}, forking{0};
std::atomic<int64_t> forks{0};
thread_local int depth = 0; // number of gates that this thread holds

void enter() {
  while (true) {
    threadsInside.fetch_add(1);
    if (!forking.load())
      return;
    threadsInside.fetch_sub(1); // a fork takes precedence
    threadsInside.notify_all();
    forking.wait(1);
  }
}

void leave() {
  threadsInside.fetch_sub(1);
  if (forking.load())
    threadsInside.notify_all();
}

void beforeFork() {
  if (depth > 0)
    leave();
  for (int none = 0; !forking.compare_exchange_strong(none, 1); none = 0)
    forking.wait(1); // another thread is forking
  for (int inside = threadsInside.load(); inside > 0; inside = threadsInside.load())
    threadsInside.wait(inside);
}

void afterForkInParent() {
  if (depth > 0)
    threadsInside.fetch_add(1);
  forking.store(0);
  forking.notify_all();
}

void afterForkInChild() {
  forks.fetch_add(1);
  threadsInside.store(depth > 0 ? 1 : 0);
  forking.store(0);
}

[[maybe_unused]] const int registered = pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);

} // namespace

ForkGate::ForkGate() {
  if (depth++ == 0)
    enter();
}
ForkGate::~ForkGate() {
  if (--depth == 0)
    leave();
}

OutsideForkGate::OutsideForkGate() : gates_(std::exchange(depth, 0)) {
  if (gates_ > 0)
    leave();
}
OutsideForkGate::~OutsideForkGate() {
  if (gates_ > 0)
    enter();
  depth = gates_;
}

int64_t forkCount() { return forks.load(std::memory_order_relaxed); }

} // namespace halftone
