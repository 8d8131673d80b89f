// The CPU device: numbers of threads, and the split of launches.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/CpuDevice.h"
#include "runtime/base/Threads.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

using namespace halftone;

namespace {

struct Environment {
  explicit Environment(const char *value) { setenv("HALFTONE_NUM_THREADS", value, 1); }
  ~Environment() { unsetenv("HALFTONE_NUM_THREADS"); }
};

struct Split {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::vector<std::pair<int64_t, int64_t>> ranges;
};

/// buffers[0] is a Split.
void recordSplit(void *const *buffers, const int64_t *, int64_t begin, int64_t end, void *) {
  auto &split = *static_cast<Split *>(buffers[0]);
  std::this_thread::sleep_for(std::chrono::milliseconds(1)); // so that each thread gets a share
  std::lock_guard lock(split.mutex);
  split.threads.insert(std::this_thread::get_id());
  split.ranges.emplace_back(begin, end);
}

/// buffers[0] is a Meeting. The first and last blocks wait for each other, so that two threads take part.
struct Meeting {
  explicit Meeting(int64_t blocks) : blocks(blocks), threadOf(static_cast<size_t>(blocks)) {}
  const int64_t blocks;
  std::atomic<bool> firstBegan{false}, lastBegan{false};
  std::vector<std::thread::id> threadOf;
};
void meet(void *const *buffers, const int64_t *, int64_t begin, int64_t end, void *) {
  auto &meeting = *static_cast<Meeting *>(buffers[0]);
  for (int64_t block = begin; block < end; ++block)
    meeting.threadOf[static_cast<size_t>(block)] = std::this_thread::get_id();
  const auto sayAndAwait = [](std::atomic<bool> &mine, std::atomic<bool> &others) {
    mine = true;
    while (!others)
      std::this_thread::yield();
  };
  if (begin == 0)
    sayAndAwait(meeting.firstBegan, meeting.lastBegan);
  if (end == meeting.blocks)
    sayAndAwait(meeting.lastBegan, meeting.firstBegan);
}

/// buffers[0] is an array of counters, one per block.
void count(void *const *buffers, const int64_t *, int64_t begin, int64_t end, void *) {
  for (int64_t block = begin; block < end; ++block)
    ++static_cast<int32_t *>(buffers[0])[block];
}

/// A queue of a new device.
std::unique_ptr<DeviceQueue> queueOf(int threads) {
  StatusOr<std::shared_ptr<CpuDevice>> device = CpuDevice::create(threads);
  REQUIRE(device.isOk());
  StatusOr<std::unique_ptr<DeviceQueue>> queue = (*device)->makeQueue(0);
  REQUIRE(queue.isOk());
  return *std::move(queue);
}

/// Plays one launch, or a launch in parts.
template <class Parts> void play(DeviceQueue &queue, const Parts &parts) {
  queue.begin();
  queue.launch(parts);
  REQUIRE(queue.finish().isOk());
}

} // namespace

TEST_CASE("HALFTONE_NUM_THREADS sets the number of threads") {
  {
    Environment environment("3");
    StatusOr<int> count = defaultThreadCount();
    REQUIRE(count.isOk());
    CHECK(*count == 3);
  }
  for (const char *bad : {"0", "-1", "two", "1.5", "4 ", "99999999999", "1025"}) {
    Environment environment(bad);
    Status status = defaultThreadCount().status();
    REQUIRE(!status.isOk());
    CHECK(status.kind() == ErrorKind::value_error);
    CHECK_THAT(status.message(),
               Catch::Equals("HALFTONE_NUM_THREADS=" + std::string(bad) + ": expected a number from 1 to 1024"));
  }
  StatusOr<int> count = defaultThreadCount();
  REQUIRE(count.isOk());
  CHECK(*count >= 1);
}

TEST_CASE("the number of threads of a CPU device can be changed") {
  StatusOr<std::shared_ptr<CpuDevice>> device = CpuDevice::create(2);
  REQUIRE(device.isOk());
  CHECK((*device)->threads() == 2);
  for (int threads : {5, 1, 3}) {
    REQUIRE((*device)->setThreads(threads).isOk());
    CHECK((*device)->threads() == threads);
  }
  for (int threads : {0, -4, 1025}) {
    Status status = (*device)->setThreads(threads);
    REQUIRE(!status.isOk());
    CHECK(status.kind() == ErrorKind::value_error);
    CHECK((*device)->threads() == 3);
  }
  CHECK(!CpuDevice::create(0).isOk());
}

TEST_CASE("A CPU device computes with the threads that the system starts, if those are fewer than it asked for") {
  const ThreadLimit limit(2);
  StatusOr<std::shared_ptr<CpuDevice>> device = CpuDevice::create(6);
  REQUIRE(device.isOk());
  CHECK((*device)->threads() == 3); // the caller is one of them
  REQUIRE((*device)->setThreads(4).isOk());
  CHECK((*device)->threads() == 1);
}

TEST_CASE("the shared CPU device is one for the process") {
  StatusOr<std::shared_ptr<CpuDevice>> first = sharedCpuDevice(), second = sharedCpuDevice();
  REQUIRE(first.isOk());
  REQUIRE(second.isOk());
  CHECK(*first == *second);
  CHECK((*first)->name() == "cpu");
}

TEST_CASE("large launches are shared among threads, small ones stay with the caller") {
  const std::unique_ptr<DeviceQueue> queue = queueOf(4);
  auto splitOf = [&](int64_t grid, double cost) {
    auto split = std::make_unique<Split>();
    void *buffers[] = {split.get()};
    const std::string kernel = "split";
    play(*queue, Launch{recordSplit, &kernel, grid, buffers, {}, 0, cost, {}});
    std::sort(split->ranges.begin(), split->ranges.end());
    int64_t next = 0;
    for (auto [begin, end] : split->ranges) {
      CHECK(begin == next);
      CHECK(end > begin);
      next = end;
    }
    CHECK(next == grid);
    return split;
  };
  const std::set<std::thread::id> caller = {std::this_thread::get_id()};
  CHECK(splitOf(100, 2000)->threads == caller);
  CHECK(splitOf(100, 0)->ranges.size() == 1);
  CHECK(splitOf(1, 1e9)->threads == caller);
  auto large = splitOf(100, 1e7);
  CHECK(large->ranges.size() == 16);
  CHECK(large->threads.size() > 1);
  CHECK(splitOf(3, 1e7)->ranges.size() == 3);
}

TEST_CASE("a thread begins with the same share of every launch") {
  const std::unique_ptr<DeviceQueue> queue = queueOf(2);
  const std::string kernel = "meet";
  const std::thread::id caller = std::this_thread::get_id();
  for (const int64_t blocks : {2, 3, 8, 100}) {
    Meeting meeting(blocks);
    void *buffers[] = {&meeting};
    play(*queue, Launch{meet, &kernel, blocks, buffers, {}, 0, 1e7, {}});
    CAPTURE(blocks);
    CHECK(meeting.threadOf.front() == caller);
    CHECK(meeting.threadOf[static_cast<size_t>((blocks + 1) / 2)] != caller);
    CHECK(meeting.threadOf.back() != caller);
  }
}

TEST_CASE("each part of a launch is shared as a launch of its own would be") {
  const std::unique_ptr<DeviceQueue> queue = queueOf(2);
  const std::string kernel = "meet";
  const std::thread::id caller = std::this_thread::get_id();
  Meeting first(100), second(9);
  void *firstBuffers[] = {&first}, *secondBuffers[] = {&second};
  const Launch parts[] = {{meet, &kernel, first.blocks, firstBuffers, {}, 0, 1e7, {}},
                          {meet, &kernel, second.blocks, secondBuffers, {}, 0, 1e7, {}}};
  play(*queue, parts);
  for (const Meeting *meeting : {&first, &second}) {
    CHECK(meeting->threadOf.front() == caller);
    CHECK(meeting->threadOf.back() != caller);
  }
}

TEST_CASE("parts of one block each are shared among threads") {
  const std::unique_ptr<DeviceQueue> queue = queueOf(2);
  const std::string kernel = "split";
  Split split;
  void *buffers[] = {&split};
  play(*queue, std::vector<Launch>(12, {recordSplit, &kernel, 1, buffers, {}, 0, 1e7, {}}));
  CHECK(split.ranges == std::vector<std::pair<int64_t, int64_t>>(12, {0, 1}));
  CHECK(split.threads.size() == 2);
}

TEST_CASE("every block runs once, whatever the number of threads and the cost") {
  for (const int threads : {2, 3, 7, 17, 40}) {
    const std::unique_ptr<DeviceQueue> queue = queueOf(threads);
    const std::string kernel = "count";
    std::vector<int32_t> first(300), second(70), third(3);
    void *firstBuffers[] = {first.data()}, *secondBuffers[] = {second.data()}, *thirdBuffers[] = {third.data()};
    int32_t times = 0;
    for (int play = 0; play < 20; ++play) {
      queue->begin();
      for (const double cost : {3000.0, 4700.0, 20000.0, 70000.0, 1e6}) {
        const Launch parts[] = {{count, &kernel, 300, firstBuffers, {}, 0, cost, {}},
                                {count, &kernel, 3, thirdBuffers, {}, 0, 0, {}},
                                {count, &kernel, 70, secondBuffers, {}, 0, 0, {}}};
        queue->launch(parts);
        ++times;
      }
      REQUIRE(queue->finish().isOk());
    }
    CAPTURE(threads);
    CHECK(first == std::vector<int32_t>(300, times));
    CHECK(second == std::vector<int32_t>(70, times));
    CHECK(third == std::vector<int32_t>(3, times));
  }
}
