// Starts the library's threads, with a fallback if the system starts none.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <thread>

namespace halftone {

/// Starts a thread that runs `work`. Returns nullopt if the system starts no more threads, because of a limit of the
/// user or the container or for lack of memory; the caller then does the work itself. All threads of the library are
/// started here.
std::optional<std::thread> startThread(std::function<void()> work);

/// Calls `job(i)` for each i below `jobs` in at most `threads` new threads, and returns when all jobs are done. If no
/// thread starts, the calling thread does all jobs. `job` must not throw.
void runInThreads(size_t jobs, size_t threads, const std::function<void(size_t)> &job);

/// Like the above; in addition the calling thread calls `whileWaiting` once per `interval` until all threads have
/// ended, but never if it does the jobs itself. `whileWaiting` must not throw. It may fork: in the child, where the
/// threads do not exist, the function returns whether or not the jobs are done.
void runInThreads(size_t jobs, size_t threads, const std::function<void(size_t)> &job,
                  std::chrono::milliseconds interval, const std::function<void()> &whileWaiting);

/// For tests: limits the number of threads that start to `count` while the object lives.
class ThreadLimit {
public:
  explicit ThreadLimit(int count);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit &) = delete;
};

} // namespace halftone
