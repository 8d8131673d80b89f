// The null device.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/NullDevice.h"
#include "runtime/devices/HostMemory.h"
#include "runtime/devices/HostQueue.h"
#include <utility>

namespace halftone {
namespace {

class NullQueue final : public HostQueue {
public:
  explicit NullQueue(NullDevice &device) : device_(device) {}
  Status finish() override {
    device_.countLaunches(std::exchange(launches_, 0));
    return {};
  }

protected:
  void run(std::span<const Launch> parts) override {
    ++launches_;
    for (const Launch &part : parts)
      device_.record(part, &part != &parts.front());
  }

private:
  NullDevice &device_;
  int64_t launches_ = 0; // since begin()
};

class EveryKernel final : public KernelLibrary {
public:
  StatusOr<KernelHandle> find(const std::string &) const override { return KernelHandle(); }
};

} // namespace

StatusOr<std::shared_ptr<const KernelLibrary>> NullDevice::load(const std::map<std::string, KernelCode> &) {
  return std::shared_ptr<const KernelLibrary>(std::make_shared<EveryKernel>());
}

StatusOr<std::unique_ptr<DeviceQueue>> NullDevice::makeQueue(int64_t scratchBytes) {
  HALFTONE_RETURN_IF_ERROR(allocateHostMemory(scratchBytes).status()); // refuses as computing devices do
  return std::unique_ptr<DeviceQueue>(std::make_unique<NullQueue>(*this));
}

std::vector<NullDevice::Record> NullDevice::takeRecords() {
  std::lock_guard lock(mutex_);
  return std::exchange(records_, {});
}

void NullDevice::record(const Launch &launch, bool joined) {
  std::lock_guard lock(mutex_);
  records_.push_back({launch.kernel ? *launch.kernel : "",
                      launch.grid,
                      {launch.buffers.begin(), launch.buffers.end()},
                      {launch.extents.begin(), launch.extents.end()},
                      launch.scratchBytes,
                      joined});
}

} // namespace halftone
