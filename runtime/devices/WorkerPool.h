// Threads that share the blocks of launches, awake while a plan plays.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace halftone {

/// Workers spin between the launches of one plan, where sleeping would cost tens of microseconds a launch, and sleep
/// soon after it. One plan has the workers at a time; another that plays meanwhile does its launches alone.
/// Every thread has its place: it begins with the same share of the blocks of each part of each launch, which it finds
/// in its own caches when an earlier launch went over the same tensors, and then helps the others.
class WorkerPool {
public:
  WorkerPool() = default;
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;

  /// `threads` counts the caller. Waits until no plan has the workers. device_error when the system gives no more
  /// threads; there are then none but the caller.
  Status setThreads(int threads);
  int threads() const { return threads_.load(std::memory_order_relaxed); }
  /// Scratch of at least `bytes` for every worker. Waits as setThreads() does.
  Status reserveScratch(int64_t bytes);

  /// Takes the workers and wakes them; false when another plan has them or there are none.
  bool acquire();
  void release();
  /// Runs all blocks of all parts on the workers and the caller, and returns when all are done. Only between acquire()
  /// and release(), with scratch reserved.
  void run(std::span<const Launch> parts, std::byte *callersScratch);

private:
  /// Threads, and how they sleep. A fork leaves them behind: the child has only this memory, and starts others.
  struct Crew {
    std::mutex sleep;
    std::condition_variable wake;
    std::atomic<bool> active{false}, stopping{false};
    std::vector<std::thread> threads;
  };
  Status start(int threads); // `threads` counts the caller
  void stop();
  /// A thread's scratch, and what it was last used for.
  struct Bench {
    std::byte *const *scratch;
    int64_t run = 0;
    const Launch *part = nullptr;
  };
  void work(Crew &crew, int64_t thread, std::byte *const *scratch);
  bool runOneChunk(int64_t thread, Bench &bench);
  std::optional<int64_t> claimPlace(int64_t thread);

  std::atomic<int> threads_{1};
  std::mutex owner_; // held by the plan that has the workers, and by changes
  int64_t scratchBytes_ = 0;
  std::vector<DeviceMemory> scratch_;
  std::vector<std::byte *> scratchPointers_;
  std::unique_ptr<Crew> crew_ = std::make_unique<Crew>();
  int64_t forks_ = 0; // forkCount() at the crew's start

  /// Places with a chunk that nobody has claimed, a bit each. Thread t's own are the chunksPerThread from t *
  /// chunksPerThread on; the chunks of a launch, if there are fewer, are spread evenly over all.
  struct alignas(64) Places {
    std::atomic<uint64_t> open{0};
  };
  std::vector<Places> places_;

  // The launch being run: written while no place is open and all earlier chunks are done, read after claiming one.
  std::span<const Launch> parts_;
  int64_t chunks_ = 0, runs_ = 0;
  alignas(64) std::atomic<int64_t> done_{0};
};

} // namespace halftone
