// Starts threads.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Threads.h"
#include <algorithm>
#include <atomic>
#include <system_error>
#include <vector>

namespace halftone {

static constexpr int anyCount = -1;
static std::atomic<int> startsLeft{anyCount};

/// Whether a thread may start, which counts as started then.
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

void runInThreads(size_t jobs, size_t threads, const std::function<void(size_t)> &job) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < jobs; i = next++)
      job(i);
  };
  std::vector<std::thread> started;
  started.reserve(std::min(jobs, threads)); // nothing throws while threads run
  while (started.size() < std::min(jobs, threads)) {
    std::optional<std::thread> thread = startThread(work);
    if (!thread)
      break;
    started.push_back(*std::move(thread));
  }
  if (started.empty())
    work();
  for (std::thread &thread : started)
    thread.join();
}

ThreadLimit::ThreadLimit(int count) { startsLeft = count; }
ThreadLimit::~ThreadLimit() { startsLeft = anyCount; }

} // namespace halftone
