// Threads of the library: what happens if the system starts none.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <thread>

namespace halftone {

/// A thread that runs `work`; nullopt if the system starts no more threads (a limit of the user, of a container or of
/// memory), so that the caller does the work. All threads of the library are started here.
std::optional<std::thread> startThread(std::function<void()> work);

/// Calls `job(i)` for each i below `jobs`, in at most `threads` threads of its own, and returns when all have ended. If no
/// thread starts, the calling thread does all of them. `job` must not throw.
void runInThreads(size_t jobs, size_t threads, const std::function<void(size_t)> &job);

/// The same, and the calling thread calls `meanwhile` once per `interval` until all threads have ended; never if it does the
/// jobs itself. `meanwhile` must not throw. It may fork: in the child, where the threads do not exist, the function returns,
/// whether their jobs are done or not.
void runInThreads(size_t jobs, size_t threads, const std::function<void(size_t)> &job,
                  std::chrono::milliseconds interval, const std::function<void()> &meanwhile);

/// For tests: while one exists, no more than `count` threads start.
class ThreadLimit {
public:
  explicit ThreadLimit(int count);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit &) = delete;
};

} // namespace halftone
