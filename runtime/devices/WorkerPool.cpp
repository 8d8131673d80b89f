// Threads that share the blocks of launches.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/WorkerPool.h"
#include "runtime/base/ForkGate.h"
#include "runtime/devices/HostMemory.h"
#include <algorithm>
#include <bit>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <system_error>

namespace halftone {
namespace {

constexpr double nanosecondsPerChunk = 1500;
constexpr int64_t chunksPerThread = 4; // several, so that an interrupted thread does not keep the others waiting long
constexpr int64_t bitsPerWord = 64;
constexpr auto stayAwake = std::chrono::microseconds(200); // covers the time between two plans of a training loop

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins; after a while it lets other programs run.
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
    (void)workers_.release(); // the child has no threads to join, and the locks are in the state at the fork
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

Status WorkerPool::start(int threads) {
  try {
    for (std::byte *const &scratch : scratchPointers_)
      workers_->threads.emplace_back(&WorkerPool::work, this, std::ref(*workers_),
                                     static_cast<int64_t>(workers_->threads.size()) + 1, &scratch);
  } catch (const std::system_error &error) {
    stop();
    return {ErrorKind::device_error, fmt::format("cannot start {} threads: {}", threads, error.what())};
  }
  threads_ = threads;
  return {};
}

Status WorkerPool::setThreads(int threads) {
  const ForkSafeLock lock(owner_);
  if (threads == this->threads())
    return {};
  stop();
  scratch_.clear();
  for (int i = 1; i < threads; ++i) {
    StatusOr<DeviceMemory> memory = allocateHostMemory(scratchBytes_);
    HALFTONE_RETURN_IF_ERROR(memory.status());
    scratch_.push_back(*std::move(memory));
  }
  scratchPointers_.assign(scratch_.size(), nullptr);
  std::ranges::transform(scratch_, scratchPointers_.begin(), [](auto &memory) { return memory.get(); });
  claimBits_ = std::vector<ClaimBits>(static_cast<size_t>((threads * chunksPerThread + bitsPerWord - 1) / bitsPerWord));
  return start(threads);
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
    const int threads = this->threads();
    stop();
    (void)start(threads); // on failure the caller works alone
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
  ThreadState state{scratch};
  while (true) {
    {
      std::unique_lock lock(workers.sleep);
      workers.wake.wait(lock, [&] { return workers.active || workers.stopping; });
    }
    Spin spin;
    for (Clock::time_point lastActive = Clock::now(); !workers.stopping;) {
      if (runOneChunk(thread, state))
        continue;
      spin.once();
      if (!spin.longEnoughToCheckTheClock())
        continue;
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

/// The index of the first open bit among the thread's own, or after them, going round.
std::optional<int64_t> WorkerPool::claimBit(int64_t thread) {
  const int64_t own = thread * chunksPerThread, words = static_cast<int64_t>(claimBits_.size());
  uint64_t preferred = ~uint64_t(0) << own % bitsPerWord;
  for (int64_t i = 0; i < words; ++i, preferred = ~uint64_t(0)) {
    const int64_t word = (own / bitsPerWord + i) % words;
    std::atomic<uint64_t> &open = claimBits_[static_cast<size_t>(word)].open;
    for (uint64_t seen = open.load(std::memory_order_relaxed); seen != 0;) {
      const int bit = std::countr_zero(seen & preferred ? seen & preferred : seen);
      if (open.compare_exchange_weak(seen, seen & ~(uint64_t(1) << bit), std::memory_order_acquire,
                                     std::memory_order_relaxed))
        return word * bitsPerWord + bit;
    }
  }
  return std::nullopt;
}

bool WorkerPool::runOneChunk(int64_t thread, ThreadState &state) {
  const std::optional<int64_t> bit = claimBit(thread);
  if (!bit)
    return false;
  const int64_t bits = threads() * chunksPerThread, chunk = (*bit * chunks_ + bits - 1) / bits;
  int64_t few = 0; // sum over earlier parts with fewer blocks than chunks; so that the chunks take turns
  for (const Launch &part : parts_) {
    const int64_t turn = part.grid < chunks_ ? (chunk + few) % chunks_ : chunk;
    const auto firstOf = [&](int64_t chunk) { return (chunk * part.grid + chunks_ - 1) / chunks_; };
    const int64_t begin = firstOf(turn), end = firstOf(turn + 1);
    few += part.grid < chunks_ ? part.grid : 0;
    if (begin == end)
      continue;
    if (state.run != runs_ || state.part != &part)
      forgetScratch(*state.scratch);
    state.run = runs_;
    state.part = &part;
    part.code.function()(part.buffers.data(), part.extents.data(), begin, end, *state.scratch);
  }
  done_.fetch_add(1, std::memory_order_release);
  return true;
}

void WorkerPool::run(std::span<const Launch> parts, std::byte *callersScratch) {
  parts_ = parts;
  int64_t blocks = 0;
  double cost = 0;
  for (const Launch &part : parts) {
    blocks += part.grid;
    cost += part.cost;
  }
  const int64_t bits = threads() * chunksPerThread;
  chunks_ = std::min(blocks, bits);
  chunks_ = std::min(chunks_, std::max<int64_t>(2, static_cast<int64_t>(std::min(cost / nanosecondsPerChunk, 1e6))));
  ++runs_;
  const int64_t chunks = chunks_;
  done_.store(0, std::memory_order_relaxed);
  for (int64_t chunk = 0, word = 0; word < static_cast<int64_t>(claimBits_.size()); ++word) {
    uint64_t open = 0;
    for (int64_t bit; chunk < chunks && (bit = chunk * bits / chunks) / bitsPerWord == word; ++chunk)
      open |= uint64_t(1) << bit % bitsPerWord;
    claimBits_[static_cast<size_t>(word)].open.store(open, std::memory_order_release);
  }
  ThreadState state{&callersScratch};
  while (runOneChunk(0, state)) {
  }
  Spin spin;
  while (done_.load(std::memory_order_acquire) != chunks)
    spin.once();
}

} // namespace halftone
