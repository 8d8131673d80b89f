// Worker threads that share the blocks of launches.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/WorkerPool.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/Threads.h"
#include "runtime/devices/HostMemory.h"
#include <algorithm>
#include <bit>
#include <chrono>
#include <fmt/format.h>
#include <new>
#include <optional>

namespace halftone {
namespace {

constexpr double nanosecondsPerChunk = 1500;
constexpr int64_t chunksPerThread = 4; // several, so that a preempted thread does not delay the others for long
constexpr auto stayAwake = std::chrono::microseconds(200); // covers the time between two plans of a training loop

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A spin wait that yields to other programs after a while.
class Spin {
public:
  void once() {
    if (++count_ % 128 == 0)
      std::this_thread::yield();
    else
      pause();
  }
  bool longEnoughToCheckTheClock() const { return count_ % 128 == 0; }

private:
  unsigned count_ = 0;
};

} // namespace

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::stop() {
  if (forks_ != forkCount()) {
    (void)workers_.release(); // the child has no threads to join, and its locks are in their state at the fork
  } else {
    {
      std::lock_guard lock(workers_->sleep);
      workers_->stopping = true;
    }
    workers_->wake.notify_all();
    for (std::thread &thread : workers_->threads)
      thread.join();
  }
  workers_ = std::make_unique<Workers>();
  forks_ = forkCount();
  threads_ = 1;
}

Status WorkerPool::start() {
  const auto threads = static_cast<int>(scratchPointers_.size()) + 1;
  allChunks_ = 0;
  try {
    shares_ = std::vector<Share>(static_cast<size_t>(threads));
    workers_->threads.reserve(scratchPointers_.size());
    for (std::byte *const &scratch : scratchPointers_) {
      const auto number = static_cast<int64_t>(workers_->threads.size()) + 1;
      std::optional<std::thread> thread =
          startThread([this, &all = *workers_, number, &scratch] { work(all, number, &scratch); });
      if (!thread)
        break; // the threads that have started, and the caller, also take the chunks of the others
      workers_->threads.push_back(*std::move(thread));
    }
  } catch (const std::bad_alloc &) { // the threads that have started end
    stop();
    scratchPointers_.clear();
    scratch_.clear();
    return {ErrorKind::device_error, fmt::format("not enough memory for {} threads", threads)};
  }
  threads_ = static_cast<int>(workers_->threads.size()) + 1;
  return {};
}

Status WorkerPool::setThreads(int threads) {
  const ForkSafeLock lock(owner_);
  if (threads == this->threads())
    return {};
  stop();
  scratchPointers_.clear();
  scratch_.clear();
  std::vector<DeviceMemory> scratch;
  for (int i = 1; i < threads; ++i) {
    StatusOr<DeviceMemory> memory = allocateHostMemory(scratchBytes_);
    HALFTONE_RETURN_IF_ERROR(memory.status());
    scratch.push_back(*std::move(memory));
  }
  scratch_ = std::move(scratch);
  for (const DeviceMemory &memory : scratch_)
    scratchPointers_.push_back(memory.get());
  return start();
}

Status WorkerPool::reserveScratch(int64_t bytes) {
  const ForkSafeLock lock(owner_);
  if (bytes <= scratchBytes_)
    return {};
  for (size_t i = 0; i < scratch_.size(); ++i) {
    StatusOr<DeviceMemory> memory = allocateHostMemory(bytes);
    HALFTONE_RETURN_IF_ERROR(memory.status());
    scratch_[i] = *std::move(memory);
    scratchPointers_[i] = scratch_[i].get();
  }
  scratchBytes_ = bytes;
  return {};
}

bool WorkerPool::acquire() {
  if (!owner_.try_lock())
    return false;
  if (forks_ != forkCount()) {
    stop();
    (void)start(); // on failure the caller works alone
  }
  if (workers_->threads.empty()) {
    owner_.unlock();
    return false;
  }
  {
    std::lock_guard lock(workers_->sleep);
    workers_->active = true;
  }
  workers_->wake.notify_all();
  return true;
}

void WorkerPool::release() {
  workers_->active = false;
  owner_.unlock();
}

void WorkerPool::work(Workers &workers, int64_t thread, std::byte *const *scratch) {
  using Clock = std::chrono::steady_clock;
  const FloatMode mode;
  const Share &own = shares_[static_cast<size_t>(thread)];
  ThreadState state{scratch};
  int64_t seenRun = 0;
  while (true) {
    {
      std::unique_lock lock(workers.sleep);
      workers.wake.wait(lock, [&] { return workers.active || workers.stopping; });
    }
    Spin spin;
    for (Clock::time_point lastActive = Clock::now(); !workers.stopping;) {
      if (const int64_t run = own.run.load(std::memory_order_relaxed);
          run != seenRun || own.open.load(std::memory_order_relaxed) != 0) {
        seenRun = run;
        runOpenChunks(thread, state);
        continue;
      }
      spin.once();
      if (!spin.longEnoughToCheckTheClock())
        continue;
      runOpenChunks(thread, state); // of threads that are late, or of a launch without a chunk for this thread
      const Clock::time_point now = Clock::now();
      if (workers.active)
        lastActive = now;
      else if (now - lastActive > stayAwake)
        break;
    }
    if (workers.stopping)
      return;
  }
}

/// Claims and runs chunks until none is open: first the thread's own, then those of the following threads in cyclic
/// order.
void WorkerPool::runOpenChunks(int64_t thread, ThreadState &state) {
  const auto count = static_cast<int64_t>(shares_.size());
  Share &own = shares_[static_cast<size_t>(thread)];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t owner = (thread + i) % count;
    Share &share = shares_[static_cast<size_t>(owner)];
    for (uint64_t seen = share.open.load(std::memory_order_acquire); seen != 0;) {
      // run() opens the caller's share last, so a worker that sees chunks of the next launch there also sees its own.
      if (i > 0 && own.open.load(std::memory_order_relaxed) != 0) {
        i = -1; // back to its own share
        break;
      }
      const uint64_t rest = seen & (seen - 1);
      if (!share.open.compare_exchange_weak(seen, rest, std::memory_order_acquire))
        continue;
      runChunk(share, owner * chunksPerThread + std::countr_zero(seen), state);
      own.done.store(own.done.load(std::memory_order_relaxed) + 1, std::memory_order_release);
      seen = share.open.load(std::memory_order_acquire);
    }
  }
}

void WorkerPool::runChunk(const Share &share, int64_t bit, ThreadState &state) {
  const int64_t bits = static_cast<int64_t>(shares_.size()) * chunksPerThread, chunks = share.chunks;
  const int64_t chunk = (bit * chunks + bits - 1) / bits, run = share.run.load(std::memory_order_relaxed);
  int64_t few = 0; // sum over earlier parts with fewer blocks than chunks, so that their blocks rotate over the chunks
  for (const Launch &part : share.parts) {
    const int64_t turn = part.grid < chunks ? (chunk + few) % chunks : chunk;
    const auto firstOf = [&](int64_t chunk) { return (chunk * part.grid + chunks - 1) / chunks; };
    const int64_t begin = firstOf(turn), end = firstOf(turn + 1);
    few += part.grid < chunks ? part.grid : 0;
    if (begin == end)
      continue;
    if (state.run != run || state.part != &part)
      forgetScratch(*state.scratch);
    state.run = run;
    state.part = &part;
    part.code.function()(part.buffers.data(), part.extents.data(), begin, end, *state.scratch);
  }
}

void WorkerPool::run(std::span<const Launch> parts, std::byte *callersScratch) {
  int64_t blocks = 0;
  double cost = 0;
  for (const Launch &part : parts) {
    blocks += part.grid;
    cost += part.cost;
  }
  const auto threads = static_cast<int64_t>(shares_.size());
  const int64_t bits = threads * chunksPerThread;
  const auto worth = std::max<int64_t>(2, static_cast<int64_t>(std::min(cost / nanosecondsPerChunk, 1e6)));
  const int64_t chunks = std::min({blocks, bits, worth});
  ++runs_;
  allChunks_ += chunks;
  // Writes the workers' shares first: they start on their chunks while the caller writes its own share.
  for (int64_t thread = threads, chunk = chunks; thread-- > 0;) {
    uint64_t open = 0;
    for (int64_t bit; chunk > 0 && (bit = (chunk - 1) * bits / chunks) >= thread * chunksPerThread; --chunk)
      open |= uint64_t(1) << (bit - thread * chunksPerThread);
    if (open == 0)
      continue;
    Share &share = shares_[static_cast<size_t>(thread)];
    share.parts = parts;
    share.chunks = chunks;
    share.run.store(runs_, std::memory_order_relaxed);
    share.open.store(open, std::memory_order_release);
  }
  ThreadState state{&callersScratch};
  runOpenChunks(0, state);
  const auto doneByAll = [&] {
    int64_t done = 0;
    for (const Share &share : shares_)
      done += share.done.load(std::memory_order_acquire);
    return done;
  };
  for (Spin spin; doneByAll() != allChunks_;)
    spin.once();
}

} // namespace halftone
