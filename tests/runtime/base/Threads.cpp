// Threads that start, and threads that fail to start.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Threads.h"
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <set>
#include <vector>

using namespace halftone;

namespace {

/// The number of runs of each job, and the threads that ran jobs.
struct Seen {
  std::vector<std::atomic<int>> runs;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  explicit Seen(size_t jobs) : runs(jobs) {}
  void job(size_t i) {
    ++runs[i];
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  }
  bool once() const {
    return std::ranges::all_of(runs, [](const std::atomic<int> &count) { return count == 1; });
  }
};

} // namespace

TEST_CASE("Each job runs once, whatever the counts of jobs and threads") {
  for (const size_t jobs : {0, 1, 2, 7, 100})
    for (const size_t threads : {0, 1, 3, 200}) {
      Seen seen(jobs);
      runInThreads(jobs, threads, [&](size_t i) { seen.job(i); });
      CHECK(seen.once());
      CHECK(seen.threads.size() <= std::max<size_t>(1, std::min(jobs, threads)));
    }
}

TEST_CASE("The calling thread does the jobs if no thread starts, and those that start do them otherwise") {
  {
    const ThreadLimit none(0);
    CHECK(!startThread([] {}));
    Seen seen(20);
    runInThreads(20, 4, [&](size_t i) { seen.job(i); });
    CHECK(seen.once());
    CHECK(seen.threads == std::set{std::this_thread::get_id()});
  }
  {
    const ThreadLimit one(1);
    Seen seen(20);
    runInThreads(20, 4, [&](size_t i) { seen.job(i); });
    CHECK(seen.once());
    CHECK(seen.threads.size() == 1);
    CHECK(!seen.threads.contains(std::this_thread::get_id()));
  }
  std::optional<std::thread> thread = startThread([] {});
  REQUIRE(thread);
  thread->join();
}

TEST_CASE("The calling thread is called meanwhile, until all jobs have ended") {
  std::atomic<int> calls{0};
  std::atomic<bool> isHere{true};
  Seen seen(3);
  runInThreads(
      3, 2,
      [&](size_t i) {
        while (calls < 2)
          std::this_thread::yield();
        seen.job(i);
      },
      std::chrono::milliseconds(1),
      [&, here = std::this_thread::get_id()] {
        ++calls;
        isHere = isHere && here == std::this_thread::get_id();
      });
  CHECK(seen.once());
  CHECK(calls >= 2);
  CHECK(isHere);
  const ThreadLimit none(0);
  Seen alone(5);
  calls = 0;
  runInThreads(5, 2, [&](size_t i) { alone.job(i); }, std::chrono::milliseconds(0), [&] { ++calls; });
  CHECK(alone.once());
  CHECK(calls == 0);
}
