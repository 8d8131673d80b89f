// Opens the emulated driver.
// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include <cstdlib>
#include <dlfcn.h>

namespace halftone::test {
namespace {

template <class F> F *functionOfEmulator(const char *name) {
  static void *const library = dlopen(HALFTONE_EMULATED_DRIVER, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  void *const function = dlsym(library, name);
  REQUIRE(function != nullptr);
  return reinterpret_cast<F *>(function);
}

StatusOr<std::shared_ptr<cuda::CudaDevice>> openDevice(cuda::RingSize ring) {
  StatusOr<std::shared_ptr<const cuda::Driver>> driver = openEmulated();
  HALFTONE_RETURN_IF_ERROR(driver.status());
  return cuda::CudaDevice::open(*std::move(driver), 0, ring);
}

} // namespace

SetEnvironment::SetEnvironment(Environment variables) : variables_(std::move(variables)) {
  for (const auto &[name, value] : variables_)
    setenv(name.c_str(), value.c_str(), 1);
}
SetEnvironment::~SetEnvironment() {
  for (const auto &[name, value] : variables_)
    unsetenv(name.c_str());
}

StatusOr<std::shared_ptr<const cuda::Driver>> openEmulated() {
  resetEmulated();
  return cuda::Driver::open(HALFTONE_EMULATED_DRIVER);
}

void resetEmulated() { functionOfEmulator<void()>("halftoneEmulatorReset")(); }

void failCall(const std::string &function, uint64_t nth, int result) {
  functionOfEmulator<void(const char *, uint64_t, int)>("halftoneEmulatorFail")(function.c_str(), nth, result);
}

uint64_t callsOf(const std::string &function) {
  return functionOfEmulator<uint64_t(const char *)>("halftoneEmulatorCalls")(function.c_str());
}

std::string objectsLeft() { return functionOfEmulator<const char *()>("halftoneEmulatorLeft")(); }

uint64_t poolWaits() { return functionOfEmulator<uint64_t()>("halftoneEmulatorPoolWaits")(); }

uint64_t idleWaits() { return functionOfEmulator<uint64_t()>("halftoneEmulatorIdleWaits")(); }

std::string emulatorFault() { return functionOfEmulator<const char *()>("halftoneEmulatorFault")(); }

EmulatedGpu::EmulatedGpu(Environment environment, cuda::RingSize ring) : environment_(std::move(environment)) {
  StatusOr<std::shared_ptr<cuda::CudaDevice>> opened = openDevice(ring);
  INFO(opened.status().str());
  REQUIRE(opened.isOk());
  device = *std::move(opened);
}
EmulatedGpu::~EmulatedGpu() = default;

std::shared_ptr<const KernelLibrary> EmulatedGpu::load(const std::string &key, const KernelCode &code) const {
  StatusOr<std::shared_ptr<const KernelLibrary>> library = device->load({{key, code}});
  INFO(library.status().str());
  REQUIRE(library.isOk());
  return *library;
}

std::unique_ptr<DeviceQueue> EmulatedGpu::queue() const {
  StatusOr<std::unique_ptr<DeviceQueue>> queue = device->makeQueue(1 << 20);
  REQUIRE(queue.isOk());
  return *std::move(queue);
}

} // namespace halftone::test
