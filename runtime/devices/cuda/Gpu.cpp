// Opens a GPU; its memory, transfers, submissions and errors.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Gpu.h"
#include "runtime/base/Environment.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <string_view>

namespace halftone::cuda {
namespace {

/// Errors of one request, after which the driver goes on working. After all others it refuses further work.
bool isOfOneRequest(Result result) {
  constexpr Result passing[] = {Result::invalid_value,
                                Result::out_of_memory,
                                Result::stub_library,
                                Result::no_device,
                                Result::invalid_image,
                                Result::no_binary_for_gpu,
                                Result::invalid_ptx,
                                Result::not_found,
                                Result::unsupported_ptx_version,
                                Result::not_ready,
                                Result::launch_out_of_resources,
                                Result::not_supported};
  return std::ranges::find(passing, result) != std::end(passing);
}

} // namespace

ContextScope::ContextScope(Gpu &gpu) : gpu_(gpu) {
  isPushed_ = !gpu.isForeignProcess() && gpu.calls().ctxPushCurrent(gpu.context_) == Result::success;
}
ContextScope::~ContextScope() {
  Context popped = nullptr;
  if (isPushed_)
    (void)gpu_.calls().ctxPopCurrent(&popped);
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
  const ContextScope context(*this);
  HALFTONE_RETURN_IF_ERROR(check(f.streamCreate(&compute_, nonBlockingStream), "making a stream"));
  HALFTONE_RETURN_IF_ERROR(check(f.streamCreate(&copying_, nonBlockingStream), "making a stream"));
  PoolProperties properties;
  properties.location = facts_.device;
  HALFTONE_RETURN_IF_ERROR(check(f.memPoolCreate(&pool_, &properties), "making a pool of memory"));
  uint64_t all = UINT64_MAX; // freed memory stays in the pool
  return check(f.memPoolSetAttribute(pool_, PoolAttribute::release_threshold, &all), "making a pool of memory");
}

Gpu::~Gpu() {
  if (!context_ || isForeignProcess())
    return;
  const Functions &f = calls();
  {
    const ContextScope context(*this);
    for (Stream stream : {compute_, copying_})
      if (stream)
        (void)f.streamSynchronize(stream);
    staging_.close();
    for (auto &[number, event] : running_)
      freeEvents_.push_back(event);
    for (Event event : freeEvents_)
      (void)f.eventDestroy(event);
    if (pool_)
      (void)f.memPoolDestroy(pool_);
    for (Stream stream : {compute_, copying_})
      if (stream)
        (void)f.streamDestroy(stream);
  }
  (void)f.devicePrimaryCtxRelease(facts_.device);
}

Status Gpu::check(Result result, std::string_view doing) {
  if (result == Result::success)
    return {};
  std::string text = fmt::format("{}: {}: {}", name_, doing, driver_->text(result));
  const std::lock_guard lock(mutex_);
  if (isOfOneRequest(result))
    return {ErrorKind::device_error, std::move(text)};
  if (!kept_.isOk())
    return kept_;
  if (!lastKernel_.empty() && !waitsForLaunches_)
    text += fmt::format("; the kernel queued last is {}{}{}; with HALFTONE_CUDA_SYNC=1 in the environment the error "
                        "names the kernel at fault",
                        lastKernel_, lastSite_.empty() ? "" : " of ", lastSite_);
  return kept_ = {ErrorKind::device_error, std::move(text)};
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

void Gpu::release(std::byte *memory) {
  if (isForeignProcess())
    return;
  const GpuTurn turn(*this);
  // Nobody is there to take the error; if it is one that stays, the next request gives it.
  (void)check(calls().memFreeAsync(addressOf(memory), compute_), "freeing memory");
}

/// Memory is in use until queued work has run, so a second try comes after that work.
Status Gpu::reserve(int64_t bytes, Address &address) {
  const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  Result result = calls().memAllocFromPoolAsync(&address, size, pool_, compute_);
  if (result == Result::out_of_memory) {
    HALFTONE_RETURN_IF_ERROR(wait());
    (void)calls().memPoolTrimTo(pool_, 0); // the second try tells whether it helped
    result = calls().memAllocFromPoolAsync(&address, size, pool_, compute_);
  }
  return result == Result::out_of_memory ? outOfMemory(bytes) : check(result, "allocating memory");
}

Status Gpu::outOfMemory(int64_t bytes) {
  size_t free = 0, total = 0;
  HALFTONE_RETURN_IF_ERROR(check(calls().memGetInfo(&free, &total), "asking for the free memory"));
  return {ErrorKind::device_error,
          fmt::format("{}: out of memory: {} bytes are asked for, {} of {} are free", name_, bytes, free, total)};
}

StatusOr<DeviceMemory> Gpu::allocate(int64_t bytes) {
  if (bytes < 0)
    return Status(ErrorKind::device_error, fmt::format("{}: cannot allocate {} bytes", name_, bytes));
  HALFTONE_RETURN_IF_ERROR(usable());
  const GpuTurn turn(*this);
  Address address = 0;
  HALFTONE_RETURN_IF_ERROR(reserve(bytes, address));
  return owned(address);
}

DeviceMemory Gpu::allocateAhead(int64_t bytes) {
  Address address = 0;
  const Result result = calls().memAllocFromPoolAsync(&address, static_cast<size_t>(bytes), pool_, copying_);
  return result == Result::success ? owned(address) : nullptr;
}

Status Gpu::stage(std::byte *to, std::span<const std::byte> from) {
  HALFTONE_RETURN_IF_ERROR(usable());
  const GpuTurn turn(*this);
  return staging_.copy(addressOf(to), from);
}

Status Gpu::download(std::span<std::byte> to, const std::byte *from) {
  HALFTONE_RETURN_IF_ERROR(usable());
  Event arrived = nullptr;
  {
    const GpuTurn turn(*this);
    ++counters.downloads;
    counters.downloadedBytes += static_cast<int64_t>(to.size());
    if (to.empty())
      return wait();
    counters.waits += calls().streamQuery(compute_) == Result::not_ready;
    StatusOr<Event> taken = takeEvent();
    HALFTONE_RETURN_IF_ERROR(taken.status());
    arrived = *taken;
  }
  const ContextScope context(*this); // without the lock: meanwhile other threads queue work
  Result result = calls().memcpyDtoHAsync(to.data(), addressOf(from), to.size(), compute_);
  if (result == Result::success)
    result = calls().eventRecord(arrived, compute_);
  if (result == Result::success)
    result = calls().eventSynchronize(arrived);
  giveEvent(arrived);
  return check(result, "a download");
}

StatusOr<Event> Gpu::takeEvent() {
  const std::lock_guard lock(mutex_);
  Event event = nullptr;
  if (freeEvents_.empty()) {
    HALFTONE_RETURN_IF_ERROR(check(calls().eventCreate(&event, eventWithoutTime), "making an event"));
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
  HALFTONE_RETURN_IF_ERROR(usable());
  const GpuTurn turn(*this);
  reapSubmissions();
  StatusOr<Event> event = takeEvent();
  HALFTONE_RETURN_IF_ERROR(event.status());
  running_.emplace_back(++submitted_, *event);
  return check(calls().eventRecord(*event, compute_), "ending a submission");
}

uint64_t Gpu::submission() {
  if (isForeignProcess())
    return 0;
  const std::lock_guard lock(mutex_);
  return submitted_;
}

/// After an error everything has finished: whoever reads a result is told the error.
bool Gpu::hasFinished(uint64_t submission) {
  if (!usable().isOk())
    return true;
  const GpuTurn turn(*this);
  reapSubmissions();
  return submission <= finished_ || !kept_.isOk();
}

void Gpu::reapSubmissions() {
  while (!running_.empty()) {
    const Result result = calls().eventQuery(running_.front().second);
    if (result == Result::not_ready || !check(result, "queued work").isOk())
      return;
    finished_ = running_.front().first;
    giveEvent(running_.front().second);
    running_.pop_front();
  }
}

} // namespace halftone::cuda
