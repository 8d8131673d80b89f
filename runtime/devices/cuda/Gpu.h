// An open GPU: its context, streams, memory, transfers and errors, shared by the device, its queues and its kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include "runtime/base/ForkGate.h"
#include "runtime/devices/cuda/Driver.h"
#include "runtime/devices/cuda/Staging.h"
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace halftone::cuda {

inline Address addressOf(const void *memory) { return reinterpret_cast<Address>(memory); }

class ContextScope;
class GpuLock;

/// All work of a GPU is ordered by its compute stream; the copy stream transfers large uploads to the GPU ahead of
/// their turn. Safe to use from several threads: a GpuLock guards the members whose comments say so.
class Gpu : public std::enable_shared_from_this<Gpu> {
public:
  /// Opens a GPU. device_error as Driver::gpu(), or if the driver does not open the GPU. `ring`: the memory of uploads
  /// in flight.
  static StatusOr<std::shared_ptr<Gpu>> open(std::shared_ptr<const Driver> driver, int index, RingSize ring);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  const std::string &name() const { return name_; } // "cuda:0"
  const Driver &driver() const { return *driver_; }
  const Functions &calls() const { return driver_->calls(); }
  const Driver::Gpu &facts() const { return facts_; }
  Context context() const { return context_; }
  Stream compute() const { return compute_; }
  Stream copying() const { return copying_; }
  /// True if HALFTONE_CUDA_SYNC was 1 when the GPU was opened: the host then waits for each launch, and an error names
  /// its kernel.
  bool waitsForLaunches() const { return waitsForLaunches_; }

  /// Allocates memory with undefined contents; the deleter frees it in the compute stream's order. device_error with
  /// the requested, free and total bytes if there is not enough memory even after all queued work has run.
  StatusOr<DeviceMemory> allocate(int64_t bytes);
  /// Like allocate(), but in the copy stream's order, so the memory is available at once: the allocation does not wait
  /// for memory that the compute stream still uses. Null if out of memory.
  StatusOr<DeviceMemory> allocateAhead(int64_t bytes);
  /// Copies in the compute stream's order. The function has read `from` when it returns.
  Status stage(std::byte *to, std::span<const std::byte> from);
  /// Copies from the device after all queued work, and waits for it.
  Status download(std::span<std::byte> to, const std::byte *from);

  /// Returns success, or device_error "<name>: <doing>: <the driver's text>", with the free bytes if the driver is out
  /// of memory. An error of one request ends with that request. If the driver refuses all work after such an error
  /// (DriverErrors.h), the GPU keeps the error.
  Status check(Result result, std::string_view action);
  /// The error that the GPU keeps, or an error if this process was created by fork() after the GPU was opened.
  Status usable();
  /// Makes the GPU's context current on the calling thread. Errors are those of usable() and of the driver.
  StatusOr<ContextScope> current();
  /// Acquires the GPU for the calling thread. Errors as current().
  StatusOr<GpuLock> lock();
  /// Waits until the compute stream has run all queued work, and counts the wait if the work has not already finished.
  Status wait();
  /// Like wait(), for an event.
  Status wait(Event event);
  /// Records the kernel queued last, for the text of an error that is reported later.
  void noteLaunch(const std::string *kernel, const std::string *site);

  /// Takes an event from a pool, and returns it to the pool.
  StatusOr<Event> takeEvent();
  void giveEvent(Event event);

  /// Ends a submission and increments the submission number.
  Status endSubmission();
  uint64_t submission();
  bool hasFinished(uint64_t submission);

  /// Updated by all components; guarded by a GpuLock.
  DeviceCounters counters;
  DeviceCounters countersNow();

private:
  Gpu(std::shared_ptr<const Driver> driver, int index, RingSize ring);
  Status start();
  Status reserve(int64_t bytes, Address &address);
  Status outOfMemory(int64_t bytes);
  std::string freeMemory();
  DeviceMemory owned(Address address);
  void release(std::byte *memory);
  void freeAll();
  Status markSubmission();
  Status reapSubmissions();
  bool isForeignProcess() const { return forkCount() != forks_; }

  const std::shared_ptr<const Driver> driver_;
  const std::string name_;
  Driver::Gpu facts_;
  const int64_t forks_ = forkCount(); // when the GPU was opened
  bool waitsForLaunches_ = false;
  Context context_ = nullptr;
  Stream compute_ = nullptr, copying_ = nullptr;
  /// `aheadPool_`, of the copy stream, never reuses memory that the compute stream still uses, since the copies would
  /// wait for it.
  Pool pool_ = nullptr, aheadPool_ = nullptr;

  std::recursive_mutex mutex_; // recursive, since a thread may free memory in its turn
  Staging staging_;
  Status kept_;
  std::string lastKernel_, lastSite_;
  std::vector<Event> freeEvents_;
  std::vector<Address> unfreed_;                   // memory that the driver has refused to free
  std::deque<std::pair<uint64_t, Event>> running_; // submissions, oldest first
  uint64_t submitted_ = 0, finished_ = 0;
};

/// Keeps the GPU's context current on the thread, for driver calls.
class ContextScope {
public:
  ContextScope(ContextScope &&other) noexcept : calls_(std::exchange(other.calls_, nullptr)) {}
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
  ~ContextScope();

private:
  friend class Gpu;
  explicit ContextScope(const Functions &calls) : calls_(&calls) {}
  const Functions *calls_;
};

/// Exclusive access of the calling thread: no other thread queues work on the GPU, and the GPU's context is current.
class GpuLock {
public:
  GpuLock(GpuLock &&) noexcept = default;

private:
  friend class Gpu;
  GpuLock(std::unique_lock<std::recursive_mutex> lock, ContextScope context)
      : lock_(std::move(lock)), context_(std::move(context)) {}
  std::unique_lock<std::recursive_mutex> lock_;
  ContextScope context_;
};

} // namespace halftone::cuda
