// Worker threads that share the blocks of launches and stay awake while a plan plays.
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

/// Workers spin between the launches of one plan, where sleeping would cost tens of microseconds per launch, and go to
/// sleep soon after the plan ends. One plan at a time owns the workers; a plan that plays meanwhile runs its launches
/// in its own thread. Every thread begins with the same share of the blocks of each part of each launch: if an earlier
/// launch processed the same tensors, the thread finds them in its caches. Then it helps the other threads.
class WorkerPool {
public:
  WorkerPool() = default;
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;

  /// Starts the workers. `threads` includes the caller. Waits until no plan owns the workers. If the system starts
  /// fewer threads, the pool uses those; threads() returns their number. device_error if there is no memory for them;
  /// then there are no workers.
  Status setThreads(int threads);
  int threads() const { return threads_.load(std::memory_order_relaxed); }
  /// Reserves scratch of at least `bytes` bytes for every worker. Waits as setThreads() does.
  Status reserveScratch(int64_t bytes);

  /// Acquires the workers and wakes them. Returns false if another plan owns them or if there are none.
  bool acquire();
  void release();
  /// Runs all blocks of all parts on the workers and the caller, and returns when all are done. Call it only between
  /// acquire() and release(), with scratch reserved.
  void run(std::span<const Launch> parts, std::byte *callersScratch);

private:
  /// The threads and their sleep state. After a fork the child has this memory but not the threads, and starts new
  /// ones.
  struct Workers {
    std::mutex sleep;
    std::condition_variable wake;
    std::atomic<bool> active{false}, stopping{false};
    std::vector<std::thread> threads;
  };
  Status start(); // one worker per scratch
  void stop();
  /// A thread's scratch, and the run and part that used it last.
  struct ThreadState {
    std::byte *const *scratch;
    int64_t run = 0;
    const Launch *part = nullptr;
  };
  /// The chunks with which a thread begins, and the number of chunks it has done. If two cores write alternately to one
  /// cache line, each write takes hundreds of nanoseconds. So a share has cache lines of its own: run() writes it once
  /// per launch, and other workers read it only if they have no chunk of their own to claim.
  struct alignas(128) Share {
    /// One bit per chunk, set while the chunk is unclaimed.
    std::atomic<uint64_t> open{0};
    // The launch of the open chunks. run() writes these fields while no bit is set and all earlier chunks are done; a
    // thread that has claimed a chunk reads them.
    std::span<const Launch> parts;
    int64_t chunks = 0;
    /// The sequence number of that launch. The share's thread also watches it: if it changes, the thread may have
    /// chunks.
    std::atomic<int64_t> run{0};
    /// The number of chunks, of any share, that the thread has done since it started. Only the thread writes it.
    std::atomic<int64_t> done{0};
  };
  void work(Workers &workers, int64_t thread, std::byte *const *scratch);
  void runOpenChunks(int64_t thread, ThreadState &state);
  void runChunk(const Share &share, int64_t bit, ThreadState &state);

  std::atomic<int> threads_{1};
  std::mutex owner_; // held by the plan that owns the workers, and while the workers change
  int64_t scratchBytes_ = 0;
  std::vector<DeviceMemory> scratch_;
  std::vector<std::byte *> scratchPointers_;
  std::unique_ptr<Workers> workers_ = std::make_unique<Workers>();
  int64_t forks_ = 0; // forkCount() when the workers started
  /// One per thread. Share t has the chunksPerThread bits from t * chunksPerThread on. If a launch has fewer chunks
  /// than there are bits, the chunks are spread evenly over all bits.
  std::vector<Share> shares_;

  // Used only by run(), apart from start().
  alignas(128) int64_t runs_ = 0; // launches so far
  int64_t allChunks_ = 0;         // chunks of all launches since the workers started
};

} // namespace halftone
