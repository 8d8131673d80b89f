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
/// soon after the plan. One plan has the workers at a time; a plan that plays meanwhile runs its launches in its own
/// thread.
/// Every thread begins with the same share of the blocks of each part of each launch: if an earlier launch went over
/// the same tensors, the thread finds them in its own caches. Then it helps the other threads.
class WorkerPool {
public:
  WorkerPool() = default;
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;

  /// `threads` includes the caller. Waits until no plan has the workers. device_error when the system gives no more
  /// threads; then there are no workers.
  Status setThreads(int threads);
  int threads() const { return threads_.load(std::memory_order_relaxed); }
  /// Scratch of at least `bytes` for every worker. Waits as setThreads() does.
  Status reserveScratch(int64_t bytes);

  /// Takes the workers and wakes them. False if another plan has them or if there are none.
  bool acquire();
  void release();
  /// Runs all blocks of all parts on the workers and the caller, and returns when all are done. Call it only between
  /// acquire() and release(), with scratch reserved.
  void run(std::span<const Launch> parts, std::byte *callersScratch);

private:
  /// Threads, and the means by which they sleep. After a fork the child has this memory but not the threads, and starts
  /// others.
  struct Workers {
    std::mutex sleep;
    std::condition_variable wake;
    std::atomic<bool> active{false}, stopping{false};
    std::vector<std::thread> threads;
  };
  Status start(int threads); // `threads` includes the caller
  void stop();
  /// A thread's scratch, and the run and the part that last used it.
  struct ThreadState {
    std::byte *const *scratch;
    int64_t run = 0;
    const Launch *part = nullptr;
  };
  void work(Workers &workers, int64_t thread, std::byte *const *scratch);
  bool runOneChunk(int64_t thread, ThreadState &state);
  std::optional<int64_t> claimBit(int64_t thread);

  std::atomic<int> threads_{1};
  std::mutex owner_; // held by the plan that has the workers, and while the workers change
  int64_t scratchBytes_ = 0;
  std::vector<DeviceMemory> scratch_;
  std::vector<std::byte *> scratchPointers_;
  std::unique_ptr<Workers> workers_ = std::make_unique<Workers>();
  int64_t forks_ = 0; // forkCount() when the workers started

  /// Bits of chunks, set while nobody has claimed the chunk. Thread t's own bits are the chunksPerThread bits from t *
  /// chunksPerThread on. If a launch has fewer chunks than there are bits, the chunks are spread evenly over all bits.
  struct alignas(64) ClaimBits {
    std::atomic<uint64_t> open{0};
  };
  std::vector<ClaimBits> claimBits_;

  // The launch that runs now. run() writes it while no bit is set and all earlier chunks are done; a thread reads it
  // after a claim.
  std::span<const Launch> parts_;
  int64_t chunks_ = 0, runs_ = 0;
  alignas(64) std::atomic<int64_t> done_{0};
};

} // namespace halftone
