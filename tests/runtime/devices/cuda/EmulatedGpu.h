// A GPU of the emulated driver.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/CudaDevice.h"
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace halftone::test {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Sets environment variables during its lifetime.
class SetEnvironment {
public:
  explicit SetEnvironment(Environment variables);
  ~SetEnvironment();
  SetEnvironment(const SetEnvironment &) = delete;
  SetEnvironment &operator=(const SetEnvironment &) = delete;

private:
  Environment variables_;
};

/// The emulated driver, opened as in a new process with this environment; or the error.
StatusOr<std::shared_ptr<const cuda::Driver>> openEmulated();

/// Resets the emulated driver to its state in a new process, not yet opened.
void resetEmulated();

/// The text of the emulator's fault; "" if there was none.
std::string emulatorFault();

/// Lets the n-th call of this function of the emulated driver, counted from now, return this result at once; 0: no
/// call.
void failCall(const std::string &function, uint64_t nth, int result);

/// The number of calls of this function of the emulated driver.
uint64_t callsOf(const std::string &function);

/// Names the objects that the last closed context still held; "" if none.
std::string objectsLeft();

/// The number of dependencies between streams that allocations from memory pools have added.
uint64_t poolWaits();

/// The number of host waits that ended with no work left, so that the GPU is idle until the host queues more.
uint64_t idleWaits();

/// The only GPU of its own emulated driver. Only one instance may exist at a time.
class EmulatedGpu {
public:
  explicit EmulatedGpu(Environment environment = {}, cuda::RingSize ring = {});
  ~EmulatedGpu();
  EmulatedGpu(const EmulatedGpu &) = delete;
  EmulatedGpu &operator=(const EmulatedGpu &) = delete;
  cuda::CudaDevice &operator*() const { return *device; }
  cuda::CudaDevice *operator->() const { return device.get(); }

  /// Memory that holds `values`.
  template <class T> DeviceMemory memory(const std::vector<T> &values) const {
    StatusOr<DeviceMemory> made = device->allocate(static_cast<int64_t>(values.size() * sizeof(T)));
    REQUIRE(made.isOk());
    REQUIRE(device->upload(made->get(), std::as_bytes(std::span(values))).isOk());
    return *made;
  }
  template <class T> std::vector<T> values(const DeviceMemory &memory, size_t count) const {
    std::vector<T> values(count);
    const Status status = device->download(std::as_writable_bytes(std::span(values)), memory.get());
    INFO(status.str());
    REQUIRE(status.isOk());
    return values;
  }
  std::shared_ptr<const KernelLibrary> load(const std::string &key, const KernelCode &code) const;
  std::unique_ptr<DeviceQueue> queue() const;

private:
  SetEnvironment environment_;

public:
  std::shared_ptr<cuda::CudaDevice> device;
};

} // namespace halftone::test
