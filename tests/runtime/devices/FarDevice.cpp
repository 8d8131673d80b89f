// The far device: its memory, its pending work, its queue.
// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/devices/FarDevice.h"
#include "runtime/base/ForkGate.h"
#include "runtime/devices/HostMemory.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace halftone::test {
namespace {

constexpr int64_t viewBytes = int64_t(1) << 32; // address space, reserved and not used

std::byte *reserve(int access) {
  void *const view = mmap(nullptr, viewBytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (view == MAP_FAILED)
    std::abort();
  return static_cast<std::byte *>(view);
}

/// A launch with its own copies of the caller's arrays, which may be gone before it runs.
struct KeptLaunch {
  explicit KeptLaunch(const Launch &launch)
      : code(launch.code), grid(launch.grid), buffers(launch.buffers.begin(), launch.buffers.end()),
        extents(launch.extents.begin(), launch.extents.end()) {}
  KernelHandle code;
  int64_t grid;
  std::vector<void *> buffers;
  std::vector<int64_t> extents;
};

class FarQueue final : public DeviceQueue {
public:
  FarQueue(FarDevice &device, DeviceMemory scratch) : device_(device), scratch_(std::move(scratch)) {}
  ~FarQueue() override { device_.wait(); } // the owner of the queue may destroy the kernels' code with it

  void begin() override {}
  void launch(LaunchParts parts) override {
    device_.countLaunch();
    std::vector<KeptLaunch> kept(parts.begin(), parts.end());
    defer(parts.front().condition, [this, kept = std::move(kept)] {
      for (const KeptLaunch &part : kept)
        run(part);
    });
  }
  void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) override {
    defer(condition, [this, to, from, bytes] {
      if (bytes > 0)
        std::memcpy(device_.inside(to), device_.inside(from), static_cast<size_t>(bytes));
    });
  }
  void fillZero(std::byte *to, int64_t bytes, Condition condition) override {
    defer(condition, [this, to, bytes] {
      if (bytes > 0)
        std::memset(device_.inside(to), 0, static_cast<size_t>(bytes));
    });
  }
  bool holds(Condition condition) override {
    if (!condition.byte)
      return true;
    device_.wait();
    return (*device_.inside(condition.byte) != std::byte{0}) != condition.negated;
  }
  /// Also checks that `changed` names every operation whose addresses changed.
  void play(std::span<const QueuedOperation> operations, std::span<const size_t> changed) override {
    for (size_t i = 0; i < operations.size(); ++i) {
      std::vector<const void *> addresses = addressesOf(operations[i]);
      if (played_.size() <= i)
        played_.emplace_back();
      else if (addresses != played_[i] && !std::ranges::binary_search(changed, i))
        wrong_ = fmt::format("operation {} has other addresses than in the play before, and was not named", i);
      played_[i] = std::move(addresses);
    }
    DeviceQueue::play(operations, changed);
  }
  Status finish() override {
    device_.endSubmission();
    return wrong_.empty() ? Status() : Status(ErrorKind::internal_error, wrong_);
  }

private:
  static std::vector<const void *> addressesOf(const QueuedOperation &operation) {
    std::vector<const void *> addresses;
    if (auto *parts = std::get_if<LaunchParts>(&operation)) {
      for (const Launch &part : *parts) {
        addresses.insert(addresses.end(), part.buffers.begin(), part.buffers.end());
        addresses.push_back(part.condition.byte);
      }
    } else if (auto *copy = std::get_if<QueuedCopy>(&operation)) {
      addresses = {copy->to, copy->from, copy->condition.byte};
    } else {
      addresses = {std::get<QueuedRepeat>(operation).condition.byte};
    }
    return addresses;
  }
  template <class F> void defer(Condition condition, F work) {
    device_.defer([this, condition, work = std::move(work)] {
      if (!condition.byte || (*device_.inside(condition.byte) != std::byte{0}) != condition.negated)
        work();
    });
  }
  void run(const KeptLaunch &launch) const {
    std::vector<void *> buffers;
    for (void *buffer : launch.buffers)
      buffers.push_back(device_.inside(buffer));
    forgetScratch(scratch_.get());
    if (launch.grid > 0)
      launch.code.function()(buffers.data(), launch.extents.data(), 0, launch.grid, scratch_.get());
  }

  FarDevice &device_;
  DeviceMemory scratch_; // host memory that is private to this queue
  std::vector<std::vector<const void *>> played_;
  std::string wrong_;
};

} // namespace

std::shared_ptr<FarDevice> FarDevice::create(std::string name, Loader load) {
  return std::shared_ptr<FarDevice>(new FarDevice(std::move(name), load));
}
FarDevice::FarDevice(std::string name, Loader load)
    : name_(std::move(name)), load_(load), outside_(reserve(PROT_NONE)), inside_(reserve(PROT_READ | PROT_WRITE)) {}
FarDevice::~FarDevice() {
  munmap(outside_, viewBytes);
  munmap(inside_, viewBytes);
}

StatusOr<DeviceMemory> FarDevice::allocate(int64_t bytes) {
  const ForkSafeLock lock(mutex_);
  const int64_t room = bytes < 0 ? -1 : (std::min(bytes, viewBytes) / bufferAlignment + 1) * bufferAlignment;
  std::byte *block = nullptr;
  if (auto found = free_.find(room); found != free_.end()) {
    block = found->second;
    free_.erase(found);
  } else if (room >= 0 && bytes <= viewBytes - used_ - bufferAlignment) {
    block = outside_ + used_;
    used_ += room;
  } else {
    return Status(ErrorKind::device_error, fmt::format("{}: cannot allocate {} bytes", name_, bytes));
  }
  std::memset(inside(block), 0, static_cast<size_t>(room)); // no pending work uses the block
  return DeviceMemory(block, [self = shared_from_this(), room](std::byte *freed) { self->release(freed, room); });
}

void FarDevice::release(std::byte *block, int64_t room) {
  const ForkSafeLock lock(mutex_);
  if (pending_.empty())
    free_.emplace(room, block);
  else
    pending_.push_back([this, block, room] { free_.emplace(room, block); });
}

std::byte *FarDevice::inside(const void *address) const {
  const int64_t offset = static_cast<const std::byte *>(address) - outside_;
  if (offset < 0 || offset >= viewBytes)
    std::abort(); // the device was passed a host address
  return inside_ + offset;
}

Status FarDevice::upload(std::byte *to, std::span<const std::byte> from) {
  const ForkSafeLock lock(mutex_);
  ++counters_.uploads;
  counters_.uploadedBytes += static_cast<int64_t>(from.size());
  defer([this, to, bytes = std::vector<std::byte>(from.begin(), from.end())] {
    std::ranges::copy(bytes, bytes.empty() ? nullptr : inside(to));
  });
  return {};
}

Status FarDevice::download(std::span<std::byte> to, const std::byte *from) {
  const ForkSafeLock lock(mutex_);
  ++counters_.downloads;
  counters_.downloadedBytes += static_cast<int64_t>(to.size());
  waitLocked();
  if (!to.empty())
    std::memcpy(to.data(), inside(from), to.size());
  return {};
}

StatusOr<std::shared_ptr<const KernelLibrary>> FarDevice::load(const std::map<std::string, KernelCode> &kernels) {
  if (!load_)
    return Status(ErrorKind::value_error, name_ + " was made without a loader of kernels");
  return load_(kernels);
}

StatusOr<std::unique_ptr<DeviceQueue>> FarDevice::makeQueue(int64_t scratchBytes) {
  StatusOr<DeviceMemory> scratch = allocateHostMemory(scratchBytes);
  HALFTONE_RETURN_IF_ERROR(scratch.status());
  return std::unique_ptr<DeviceQueue>(std::make_unique<FarQueue>(*this, *std::move(scratch)));
}

DeviceCounters FarDevice::counters() const {
  const ForkSafeLock lock(mutex_);
  return counters_;
}
uint64_t FarDevice::submission() const {
  const ForkSafeLock lock(mutex_);
  return submitted_;
}
bool FarDevice::hasFinished(uint64_t submission) const {
  const ForkSafeLock lock(mutex_);
  return submission <= finished_;
}

void FarDevice::defer(std::function<void()> work) {
  const ForkSafeLock lock(mutex_);
  pending_.push_back(std::move(work));
}
void FarDevice::countLaunch() {
  const ForkSafeLock lock(mutex_);
  ++counters_.launches;
}
void FarDevice::endSubmission() {
  const ForkSafeLock lock(mutex_);
  ++submitted_;
  defer([this, number = submitted_] { finished_ = number; });
}
void FarDevice::wait() {
  const ForkSafeLock lock(mutex_);
  waitLocked();
}
void FarDevice::waitLocked() {
  counters_.waits += !pending_.empty();
  while (!pending_.empty()) {
    const std::function<void()> work = std::move(pending_.front());
    pending_.pop_front();
    work();
  }
}

} // namespace halftone::test
