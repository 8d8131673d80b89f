// fork() while other threads hold locks.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ForkGate.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace halftone;

namespace {

/// Forks. Returns true if `f` returned true in the child and the child exits successfully within ten seconds.
template <class F> bool childDoes(F f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(f() ? 0 : 1);
  }
  int status = 1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

} // namespace

TEST_CASE("a forked child finds locks open that other threads take all the time") {
  std::mutex mutex;
  std::recursive_mutex nested;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!stop) {
        const ForkSafeLock outer(nested);
        const ForkSafeLock inner(nested); // also while a fork is waiting
        const ForkSafeLock lock(mutex);
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
  const int64_t before = forkCount();
  for (int i = 0; i < 50; ++i)
    REQUIRE(childDoes([&] {
      const ForkSafeLock lock(mutex);
      const ForkSafeLock outer(nested);
      return forkCount() == before + 1;
    }));
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  CHECK(forkCount() == before);
}

TEST_CASE("a thread that holds the gate may fork") {
  const ForkGate gate;
  CHECK(childDoes([] {
    const ForkGate again;
    return true;
  }));
}

TEST_CASE("several threads may fork at once") {
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k)
        good += childDoes([] {
          const ForkGate inside;
          return true;
        });
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(good == 40);
}

TEST_CASE("Several threads may fork at once, each while it holds the gate") {
  std::atomic<int> good{0}, inside{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const ForkGate gate;
      for (++inside; inside < 4;)
        std::this_thread::yield();
      for (int k = 0; k < 10; ++k)
        good += childDoes([] {
          const ForkGate again;
          return true;
        });
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(good == 40);
  CHECK(childDoes([] { return true; })); // no gate remains
}

TEST_CASE("A fork does not wait for users' code inside the library") {
  std::atomic<bool> isInside{false}, hasForked{false};
  std::thread users([&] {
    const ForkGate gate;
    const ForkGate nested;
    const OutsideForkGate outside;
    const ForkGate back; // the code calls the library
    {
      const OutsideForkGate again;
      for (isInside = true; !hasForked;)
        std::this_thread::yield();
    }
  });
  while (!isInside)
    std::this_thread::yield();
  CHECK(childDoes([] {
    const ForkGate gate;
    return true;
  }));
  hasForked = true;
  users.join();
  CHECK(childDoes([] { return true; }));
}
