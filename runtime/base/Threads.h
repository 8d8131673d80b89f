// Threads of the library: what happens if the system starts none.
// SPDX-License-Identifier: Apache-2.0
#pragma once
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

/// For tests: while one exists, no more than `count` threads start.
class ThreadLimit {
public:
  explicit ThreadLimit(int count);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit &) = delete;
};

} // namespace halftone
