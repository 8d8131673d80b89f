// Threads that share the blocks of launches, awake while a plan plays.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
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

  /// `threads` includes the caller. Waits until no plan has the workers. If the system starts fewer threads, those are all;
  /// threads() tells how many. device_error if there is no memory for them; then there are no workers.
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
  Status start(); // a worker for each scratch
  void stop();
  /// A thread's scratch, and the run and the part that last used it.
  struct ThreadState {
    std::byte *const *scratch;
    int64_t run = 0;
    const Launch *part = nullptr;
  };
  /// The chunks that a thread begins with, and how many it has done. If two cores write to one cache line in turn, each
  /// write takes hundreds of nanoseconds. So a share lies on lines of its own: run() writes it once for a launch, and
  /// other workers look at it only if they have no chunk of their own to claim.
  struct alignas(128) Share {
    /// Bits of chunks, set while nobody has claimed the chunk.
    std::atomic<uint64_t> open{0};
    // The launch of the open chunks. run() writes these while no bit is set and all earlier chunks are done; whoever has
    // claimed a chunk reads them.
    std::span<const Launch> parts;
    int64_t chunks = 0;
    /// The number of that launch. The share's thread also watches it: if it changes, the thread may have chunks.
    std::atomic<int64_t> run{0};
    /// Chunks that the thread has done since it started, of any share. Only the thread writes it.
    std::atomic<int64_t> done{0};
  };
  void work(Workers &workers, int64_t thread, std::byte *const *scratch);
  void runOpenChunks(int64_t thread, ThreadState &state);
  void runChunk(const Share &share, int64_t bit, ThreadState &state);

  std::atomic<int> threads_{1};
  std::mutex owner_; // held by the plan that has the workers, and while the workers change
  int64_t scratchBytes_ = 0;
  std::vector<DeviceMemory> scratch_;
  std::vector<std::byte *> scratchPointers_;
  std::unique_ptr<Workers> workers_ = std::make_unique<Workers>();
  int64_t forks_ = 0; // forkCount() when the workers started
  /// By thread. Share t has the chunksPerThread bits from t * chunksPerThread on. If a launch has fewer chunks than there
  /// are bits, the chunks are spread evenly over all bits.
  std::vector<Share> shares_;

  // Only run() uses these, apart from start().
  alignas(128) int64_t runs_ = 0; // launches so far
  int64_t allChunks_ = 0;         // chunks of all launches since the workers started
};

} // namespace halftone
