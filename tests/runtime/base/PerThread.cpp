// Objects with one instance per thread.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/PerThread.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace halftone;

namespace {

std::atomic<int> alive{0};
struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
  int value = 0;
};
thread_local PerThread<Counted> first, second;

} // namespace

TEST_CASE("Each thread has its own object, which ends with the thread") {
  first->value = 1;
  second->value = 2;
  const int here = alive;
  REQUIRE(here >= 2);
  std::vector<std::thread> threads;
  std::atomic<bool> fresh{true};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&fresh, i] {
      fresh = fresh && first->value == 0 && second->value == 0;
      first->value = i;
      fresh = fresh && first->value == i;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(fresh);
  CHECK(alive == here);
  CHECK(first->value == 1);
  CHECK(second->value == 2);
}

TEST_CASE("The destructor of a thread_local object finds the thread's own objects") {
  struct Last {
    std::atomic<int> *seen = nullptr;
    ~Last() { *seen = first->value; }
  };
  std::atomic<int> seen{0};
  const int before = alive;
  std::thread([&seen] {
    static thread_local Last last;
    last.seen = &seen;
    first->value = 7;
  }).join();
  CHECK(seen == 7);
  CHECK(alive == before);
}
