// Threads that share the blocks of launches.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/WorkerPool.h"
#include "runtime/devices/HostMemory.h"
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <system_error>

namespace halftone {
namespace {

constexpr double nanosecondsPerChunk = 1500;
constexpr int64_t chunksPerThread = 4; // so that a thread that was interrupted does not keep the others waiting long
constexpr auto stayAwake = std::chrono::microseconds(200); // between two plans of a training loop

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins, and lets other programs run after a while.
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
  {
    std::lock_guard lock(sleep_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread &worker : workers_)
    worker.join();
  workers_.clear();
  stopping_ = false;
  threads_ = 1;
}

Status WorkerPool::setThreads(int threads) {
  std::lock_guard lock(owner_);
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
  try {
    for (std::byte *const &scratch : scratchPointers_)
      workers_.emplace_back(&WorkerPool::work, this, &scratch);
  } catch (const std::system_error &error) {
    stop();
    return {ErrorKind::device_error, fmt::format("cannot start {} threads: {}", threads, error.what())};
  }
  threads_ = threads;
  return {};
}

Status WorkerPool::reserveScratch(int64_t bytes) {
  std::lock_guard lock(owner_);
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
  if (workers_.empty()) {
    owner_.unlock();
    return false;
  }
  {
    std::lock_guard lock(sleep_);
    active_ = true;
  }
  wake_.notify_all();
  return true;
}

void WorkerPool::release() {
  active_ = false;
  owner_.unlock();
}

void WorkerPool::work(std::byte *const *scratch) {
  using Clock = std::chrono::steady_clock;
  while (true) {
    {
      std::unique_lock lock(sleep_);
      wake_.wait(lock, [&] { return active_ || stopping_; });
    }
    Spin spin;
    for (Clock::time_point lastActive = Clock::now(); !stopping_;) {
      if (runOneChunk(*scratch))
        continue;
      spin.once();
      if (!spin.longEnoughToCheckTheClock())
        continue;
      const Clock::time_point now = Clock::now();
      if (active_)
        lastActive = now;
      else if (now - lastActive > stayAwake)
        break;
    }
    if (stopping_)
      return;
  }
}

bool WorkerPool::runOneChunk(std::byte *scratch) {
  int64_t unclaimed = unclaimed_.load(std::memory_order_relaxed);
  if (unclaimed <= 0 || !unclaimed_.compare_exchange_strong(unclaimed, unclaimed - 1, std::memory_order_acquire,
                                                            std::memory_order_relaxed))
    return unclaimed > 0;
  const int64_t chunk = chunks_ - unclaimed, each = blocks_ / chunks_, rest = blocks_ % chunks_;
  int64_t begin = chunk * each + std::min(chunk, rest), end = begin + each + (chunk < rest ? 1 : 0);
  for (auto part = parts_.begin(); begin < end; begin = 0, end -= part->grid, ++part) {
    for (; begin >= part->grid; ++part) {
      begin -= part->grid;
      end -= part->grid;
    }
    part->function(part->buffers.data(), part->extents.data(), begin, std::min(end, part->grid), scratch);
  }
  done_.fetch_add(1, std::memory_order_release);
  return true;
}

void WorkerPool::run(std::span<const Launch> parts, std::byte *callersScratch) {
  parts_ = parts;
  blocks_ = 0;
  double cost = 0;
  for (const Launch &part : parts) {
    blocks_ += part.grid;
    cost += part.cost;
  }
  chunks_ = std::min(blocks_, chunksPerThread * threads());
  chunks_ = std::min(chunks_, std::max<int64_t>(2, static_cast<int64_t>(std::min(cost / nanosecondsPerChunk, 1e6))));
  const int64_t chunks = chunks_;
  done_.store(0, std::memory_order_relaxed);
  unclaimed_.store(chunks, std::memory_order_release);
  while (runOneChunk(callersScratch)) {
  }
  Spin spin;
  while (done_.load(std::memory_order_acquire) != chunks)
    spin.once();
}

} // namespace halftone
