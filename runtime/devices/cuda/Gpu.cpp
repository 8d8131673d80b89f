// An open GPU: memory, transfers, submissions and errors.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Gpu.h"
#include "runtime/base/Environment.h"
#include "runtime/devices/cuda/DriverErrors.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <string_view>

namespace halftone::cuda {

ContextScope::~ContextScope() {
  Context popped = nullptr;
  if (calls_)
    (void)calls_->ctxPopCurrent(&popped); // a destructor cannot report errors
}

StatusOr<ContextScope> Gpu::current() {
  HALFTONE_RETURN_IF_ERROR(usable());
  HALFTONE_RETURN_IF_ERROR(check(calls().ctxPushCurrent(context_), "entering the GPU's context"));
  return ContextScope(calls());
}

/// In a forked child the lock may never be released, so usable() is checked first.
StatusOr<GpuLock> Gpu::lock() {
  HALFTONE_RETURN_IF_ERROR(usable());
  std::unique_lock lock(mutex_);
  StatusOr<ContextScope> context = current();
  HALFTONE_RETURN_IF_ERROR(context.status());
  return GpuLock(std::move(lock), *std::move(context));
}

StatusOr<std::shared_ptr<Gpu>> Gpu::open(std::shared_ptr<const Driver> driver, int index, RingSize ring) {
  StatusOr<Driver::Gpu> facts = driver->gpu(index);
  HALFTONE_RETURN_IF_ERROR(facts.status());
  if (const std::string sync = environmentValue("HALFTONE_CUDA_SYNC"); !sync.empty() && sync != "0" && sync != "1")
    return environmentError(ErrorKind::value_error, "HALFTONE_CUDA_SYNC", "0 or 1");
  std::shared_ptr<Gpu> gpu(new Gpu(std::move(driver), index, ring));
  gpu->facts_ = *std::move(facts);
  HALFTONE_RETURN_IF_ERROR(gpu->start());
  return gpu;
}

Gpu::Gpu(std::shared_ptr<const Driver> driver, int index, RingSize ring)
    : driver_(std::move(driver)), name_(fmt::format("cuda:{}", index)), staging_(*this, ring) {
  waitsForLaunches_ = environmentValue("HALFTONE_CUDA_SYNC") == "1";
}

Status Gpu::start() {
  const Functions &f = calls();
  HALFTONE_RETURN_IF_ERROR(check(f.devicePrimaryCtxRetain(&context_, facts_.device), "opening the GPU"));
  const StatusOr<ContextScope> context = current();
  HALFTONE_RETURN_IF_ERROR(context.status());
  HALFTONE_RETURN_IF_ERROR(check(f.streamCreate(&compute_, nonBlockingStream), "creating a stream"));
  HALFTONE_RETURN_IF_ERROR(check(f.streamCreate(&copying_, nonBlockingStream), "creating a stream"));
  for (Pool *pool : {&pool_, &aheadPool_}) {
    PoolProperties properties;
    properties.location = facts_.device;
    HALFTONE_RETURN_IF_ERROR(check(f.memPoolCreate(pool, &properties), "creating a memory pool"));
    uint64_t all = UINT64_MAX; // freed memory stays in the pool
    HALFTONE_RETURN_IF_ERROR(
        check(f.memPoolSetAttribute(*pool, PoolAttribute::release_threshold, &all), "creating a memory pool"));
  }
  int no = 0;
  return check(f.memPoolSetAttribute(aheadPool_, PoolAttribute::reuse_with_new_dependencies, &no),
               "creating a memory pool");
}

/// Releases the resources that start() acquired, even if it failed midway. Errors cannot be reported.
Gpu::~Gpu() {
  if (!context_ || isForeignProcess())
    return;
  const Functions &f = calls();
  const bool isCurrent = f.ctxPushCurrent(context_) == Result::success;
  for (Stream stream : {compute_, copying_})
    if (stream)
      (void)f.streamSynchronize(stream);
  staging_.close();
  for (auto &[number, event] : running_)
    freeEvents_.push_back(event);
  for (Event event : freeEvents_)
    (void)f.eventDestroy(event);
  freeAll();
  for (Pool pool : {pool_, aheadPool_})
    if (pool)
      (void)f.memPoolDestroy(pool);
  for (Stream stream : {compute_, copying_})
    if (stream)
      (void)f.streamDestroy(stream);
  Context popped = nullptr;
  if (isCurrent)
    (void)f.ctxPopCurrent(&popped);
  (void)f.devicePrimaryCtxRelease(facts_.device);
}

Status Gpu::check(Result result, std::string_view action) {
  if (result == Result::success)
    return {};
  std::string text = fmt::format("{}: {}: {}", name_, action, driver_->text(result));
  const std::lock_guard lock(mutex_);
  if (reachOf(result) != Reach::process)
    return {ErrorKind::device_error, result == Result::out_of_memory ? text + freeMemory() : std::move(text)};
  if (!kept_.isOk())
    return kept_;
  if (!lastKernel_.empty() && !waitsForLaunches_)
    text += fmt::format("; the kernel queued last is {}{}{}; with HALFTONE_CUDA_SYNC=1 in the environment the error "
                        "names the kernel at fault",
                        lastKernel_, lastSite_.empty() ? "" : " of ", lastSite_);
  return kept_ = {ErrorKind::device_error, text + "; the GPU does no further work for this process"};
}

/// ", <free> of <all> bytes are free"; "" if the driver does not report them.
std::string Gpu::freeMemory() {
  size_t free = 0, total = 0;
  return calls().memGetInfo(&free, &total) == Result::success ? fmt::format(", {} of {} free", free, total) : "";
}

Status Gpu::usable() {
  if (isForeignProcess())
    return {ErrorKind::device_error,
            fmt::format("{}: it was opened before fork(), and a child process cannot use it", name_)};
  const std::lock_guard lock(mutex_);
  return kept_;
}

Status Gpu::wait() {
  const Result before = calls().streamQuery(compute_);
  counters.waits += before == Result::not_ready;
  return check(before == Result::not_ready ? calls().streamSynchronize(compute_) : before, "waiting for queued work");
}

Status Gpu::wait(Event event) {
  const Result before = calls().eventQuery(event);
  counters.waits += before == Result::not_ready;
  return check(before == Result::not_ready ? calls().eventSynchronize(event) : before, "waiting for queued work");
}

DeviceCounters Gpu::countersNow() {
  if (isForeignProcess())
    return {};
  const std::lock_guard lock(mutex_);
  return counters;
}

void Gpu::noteLaunch(const std::string *kernel, const std::string *site) {
  lastKernel_ = kernel ? *kernel : "";
  lastSite_ = site ? *site : "";
}

DeviceMemory Gpu::owned(Address address) {
  return {std::bit_cast<std::byte *>(address),
          [self = shared_from_this()](std::byte *memory) { self->release(memory); }};
}

/// Errors cannot be reported here. An error of the process persists, and the next request returns it; after any other
/// error the memory is freed later.
void Gpu::release(std::byte *memory) {
  if (isForeignProcess())
    return;
  const std::lock_guard lock(mutex_);
  const StatusOr<ContextScope> context = current();
  if (!context.isOk() || !check(calls().memFreeAsync(addressOf(memory), compute_), "freeing memory").isOk())
    unfreed_.push_back(addressOf(memory));
}

void Gpu::freeAll() {
  std::erase_if(unfreed_, [this](Address address) {
    return check(calls().memFreeAsync(address, compute_), "freeing memory").isOk();
  });
}

Status Gpu::outOfMemory(int64_t bytes) {
  return {ErrorKind::device_error, fmt::format("{}: out of memory: {} bytes requested{}", name_, bytes, freeMemory())};
}

/// Allocates memory. Freed memory stays in use until queued work has completed, so a second attempt waits for that
/// work.
Status Gpu::reserve(int64_t bytes, Address &address) {
  if (bytes > facts_.bytes) // drivers report different errors for it
    return outOfMemory(bytes);
  const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  Result result = calls().memAllocFromPoolAsync(&address, size, pool_, compute_);
  if (result == Result::out_of_memory) {
    freeAll();
    HALFTONE_RETURN_IF_ERROR(wait());
    for (Pool pool : {pool_, aheadPool_})
      (void)calls().memPoolTrimTo(pool, 0); // the second attempt shows whether it helped
    result = calls().memAllocFromPoolAsync(&address, size, pool_, compute_);
  }
  return result == Result::out_of_memory ? outOfMemory(bytes)
                                         : check(result, fmt::format("allocating {} bytes", bytes));
}

StatusOr<DeviceMemory> Gpu::allocate(int64_t bytes) {
  if (bytes < 0)
    return Status(ErrorKind::device_error, fmt::format("{}: cannot allocate {} bytes", name_, bytes));
  const StatusOr<GpuLock> lock = this->lock();
  HALFTONE_RETURN_IF_ERROR(lock.status());
  Address address = 0;
  HALFTONE_RETURN_IF_ERROR(reserve(bytes, address));
  return owned(address);
}

StatusOr<DeviceMemory> Gpu::allocateAhead(int64_t bytes) {
  Address address = 0;
  const Result result = calls().memAllocFromPoolAsync(&address, static_cast<size_t>(bytes), aheadPool_, copying_);
  if (result == Result::out_of_memory)
    return DeviceMemory();
  HALFTONE_RETURN_IF_ERROR(check(result, fmt::format("allocating {} bytes", bytes)));
  return owned(address);
}

Status Gpu::stage(std::byte *to, std::span<const std::byte> from) {
  const StatusOr<GpuLock> lock = this->lock();
  HALFTONE_RETURN_IF_ERROR(lock.status());
  return staging_.copy(addressOf(to), from);
}

Status Gpu::download(std::span<std::byte> to, const std::byte *from) {
  Event arrived = nullptr;
  {
    const StatusOr<GpuLock> lock = this->lock();
    HALFTONE_RETURN_IF_ERROR(lock.status());
    ++counters.downloads;
    counters.downloadedBytes += static_cast<int64_t>(to.size());
    if (to.empty())
      return wait();
    counters.waits += calls().streamQuery(compute_) == Result::not_ready; // the copy reports an error again
    StatusOr<Event> taken = takeEvent();
    HALFTONE_RETURN_IF_ERROR(taken.status());
    arrived = *taken;
  }
  const StatusOr<ContextScope> context = current(); // without the lock, so that other threads can queue work meanwhile
  if (!context.isOk()) {
    giveEvent(arrived);
    return context.status();
  }
  Result result = calls().memcpyDtoHAsync(to.data(), addressOf(from), to.size(), compute_);
  if (result == Result::success) {
    result = calls().eventRecord(arrived, compute_);
    if (result == Result::success)
      result = calls().eventSynchronize(arrived);
    if (result != Result::success) // the copy may still write to the caller's memory
      (void)calls().streamSynchronize(compute_);
  }
  giveEvent(arrived);
  return check(result, "a download");
}

StatusOr<Event> Gpu::takeEvent() {
  const std::lock_guard lock(mutex_);
  Event event = nullptr;
  if (freeEvents_.empty()) {
    HALFTONE_RETURN_IF_ERROR(check(calls().eventCreate(&event, eventWithoutTime), "creating an event"));
  } else {
    event = freeEvents_.back();
    freeEvents_.pop_back();
  }
  return event;
}

void Gpu::giveEvent(Event event) {
  const std::lock_guard lock(mutex_);
  freeEvents_.push_back(event);
}

Status Gpu::endSubmission() {
  const StatusOr<GpuLock> lock = this->lock();
  HALFTONE_RETURN_IF_ERROR(lock.status());
  const Status marked = markSubmission();
  if (!marked.isOk())
    (void)wait(); // without an event its completion cannot be queried later
  return marked;
}

/// Assigns the submission number after recording its event: an event that was never recorded counts as completed.
Status Gpu::markSubmission() {
  HALFTONE_RETURN_IF_ERROR(reapSubmissions());
  StatusOr<Event> event = takeEvent();
  HALFTONE_RETURN_IF_ERROR(event.status());
  const Status recorded = check(calls().eventRecord(*event, compute_), "ending a submission");
  if (recorded.isOk())
    running_.emplace_back(++submitted_, *event);
  else
    giveEvent(*event);
  return recorded;
}

uint64_t Gpu::submission() {
  if (isForeignProcess())
    return 0;
  const std::lock_guard lock(mutex_);
  return submitted_;
}

/// After an error every submission counts as finished; readers of a result get the error.
bool Gpu::hasFinished(uint64_t submission) {
  const StatusOr<GpuLock> lock = this->lock();
  return !lock.isOk() || !reapSubmissions().isOk() || submission <= finished_;
}

Status Gpu::reapSubmissions() {
  while (!running_.empty()) {
    const Result result = calls().eventQuery(running_.front().second);
    if (result == Result::not_ready)
      return {};
    HALFTONE_RETURN_IF_ERROR(check(result, "queued work"));
    finished_ = running_.front().first;
    giveEvent(running_.front().second);
    running_.pop_front();
  }
  return {};
}

} // namespace halftone::cuda
