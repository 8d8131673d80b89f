// Starts threads.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Threads.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <vector>

namespace halftone {

static constexpr int anyCount = -1;
static std::atomic<int> startsLeft{anyCount};

/// Returns true if a thread may start, and then counts it as started.
static bool takeStart() {
  for (int left = startsLeft; left != anyCount;) {
    if (left == 0)
      return false;
    if (startsLeft.compare_exchange_weak(left, left - 1))
      return true;
  }
  return true;
}

std::optional<std::thread> startThread(std::function<void()> work) {
  if (!takeStart())
    return std::nullopt;
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error &) {
    return std::nullopt;
  }
}

/// Starts at most `count` threads that run `work`.
static std::vector<std::thread> startThreads(size_t count, const std::function<void()> &work) {
  std::vector<std::thread> started;
  started.reserve(count); // nothing throws while threads run
  while (started.size() < count) {
    std::optional<std::thread> thread = startThread(work);
    if (!thread)
      break;
    started.push_back(*std::move(thread));
  }
  return started;
}

void runInThreads(size_t jobs, size_t threads, const std::function<void(size_t)> &job) {
  runInThreads(jobs, threads, job, std::chrono::hours(1), [] {});
}

void runInThreads(size_t jobs, size_t threads, const std::function<void(size_t)> &job,
                  std::chrono::milliseconds interval, const std::function<void()> &whileWaiting) {
  std::atomic<size_t> next{0}, ended{0};
  std::mutex mutex;
  std::condition_variable changed;
  const auto work = [&] {
    for (size_t i = next++; i < jobs; i = next++)
      job(i);
    const std::lock_guard lock(mutex);
    ++ended;
    changed.notify_one();
  };
  std::vector<std::thread> started = startThreads(std::min(jobs, threads), work);
  if (started.empty())
    work();
  const auto haveEnded = [&] { return ended >= started.size(); };
  const auto wait = [&] {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, interval, haveEnded);
  };
  const int64_t forksBefore = forkCount();
  while (!wait()) {
    whileWaiting();
    if (forkCount() == forksBefore)
      continue;
    for (std::thread &thread : started)
      thread.detach();
    return;
  }
  for (std::thread &thread : started)
    thread.join();
}

ThreadLimit::ThreadLimit(int count) { startsLeft = count; }
ThreadLimit::~ThreadLimit() { startsLeft = anyCount; }

} // namespace halftone
