// cu* functions of the driver itself, of devices and of contexts, and of the emulator's own state.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/driver/Driver.h"
#include <algorithm>
#include <cstdio>

using namespace halftone::emulator;

namespace {

struct ResultName {
  Result result;
  const char *name;
  const char *text;
};

constexpr ResultName resultNames[] = {
    {Result::Success, "CUDA_SUCCESS", "no error"},
    {Result::InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {Result::OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {Result::NotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {Result::StubLibrary, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {Result::NoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {Result::InvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {Result::InvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {Result::InvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {Result::InvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {Result::InvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {Result::NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {Result::NotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {Result::IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {Result::LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {Result::MisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {Result::LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {Result::NotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

struct DeviceAttribute {
  int attribute;
  int value;
};

/// As an A100 with 80 GB has them; those that depend on the compute capability are in attributeOf.
constexpr DeviceAttribute attributes[] = {
    {1, 1024},      {2, 1024},  {3, 1024}, {4, 64},     {5, 2147483647}, {6, 65535},    {7, 65535},
    {8, 49152},     {9, 65536}, {10, 32},  {12, 65536}, {13, 1410000},   {14, 512},     {15, 1},
    {16, 108},      {18, 0},    {19, 1},   {20, 0},     {31, 1},         {36, 1215000}, {37, 5120},
    {38, 41943040}, {39, 2048}, {40, 3},   {41, 1},     {82, 65536},     {111, 1024},   {115, 1}};

std::optional<int> attributeOf(const Settings &settings, int attribute) {
  switch (attribute) {
  case 75:
    return settings.capability / 10;
  case 76:
    return settings.capability % 10;
  case 81: // shared memory of a multiprocessor: 1 KiB more than a block may have
    return settings.sharedBytesPerBlock() + 1024;
  case 97:
    return settings.sharedBytesPerBlock();
  default:
    break;
  }
  const auto *found = std::ranges::find(attributes, attribute, &DeviceAttribute::attribute);
  return found == std::end(attributes) ? std::nullopt : std::optional(found->value);
}

/// Runs f(driver) with the lock, once cuInit has been called.
template <typename F> int withDriver(F f) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  if (!driver.isInitialised)
    return static_cast<int>(Result::NotInitialized);
  try {
    f(driver);
    return static_cast<int>(Result::Success);
  } catch (const DriverError &error) {
    return static_cast<int>(error.result);
  } catch (const std::bad_alloc &) {
    return static_cast<int>(Result::OutOfMemory);
  }
}

void expectDevice(const Driver &driver, int device) {
  expect(device >= 0 && device < driver.settings.devices, Result::InvalidDevice);
}

int findText(int result, const char **text, const char *ResultName::*member) {
  const auto *found = std::ranges::find(resultNames, static_cast<Result>(result), &ResultName::result);
  bool known = found != std::end(resultNames);
  *text = known ? found->*member : nullptr;
  return static_cast<int>(known ? Result::Success : Result::InvalidValue);
}

} // namespace

HALFTONE_EMULATED int cuInit(unsigned flags) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  if (flags)
    return static_cast<int>(Result::InvalidValue);
  if (!driver.isInitialised)
    driver.settings = Settings::fromEnvironment();
  if (driver.settings.isStub)
    return static_cast<int>(Result::StubLibrary);
  if (!driver.settings.devices)
    return static_cast<int>(Result::NoDevice);
  driver.isInitialised = true;
  return static_cast<int>(Result::Success);
}

HALFTONE_EMULATED int cuDriverGetVersion(int *version) {
  const Settings settings = Settings::fromEnvironment();
  *version = settings.driverVersion;
  return static_cast<int>(settings.isStub ? Result::StubLibrary : Result::Success);
}

HALFTONE_EMULATED int cuDeviceGetCount(int *count) {
  return withDriver([&](Driver &driver) { *count = driver.settings.devices; });
}

HALFTONE_EMULATED int cuDeviceGet(int *device, int index) {
  return withDriver([&](Driver &driver) {
    expectDevice(driver, index);
    *device = index;
  });
}

HALFTONE_EMULATED int cuDeviceGetName(char *name, int bytes, int device) {
  return withDriver([&](Driver &driver) {
    expectDevice(driver, device);
    expect(bytes > 0);
    uint32_t capability = driver.settings.capability;
    std::snprintf(name, bytes, "Halftone emulated GPU sm_%u", capability);
  });
}

HALFTONE_EMULATED int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  return withDriver([&](Driver &driver) {
    expectDevice(driver, device);
    *bytes = driver.settings.memory;
  });
}

HALFTONE_EMULATED int cuDeviceGetAttribute(int *value, int attribute, int device) {
  return withDriver([&](Driver &driver) {
    expectDevice(driver, device);
    std::optional<int> found = attributeOf(driver.settings, attribute);
    expect(found.has_value());
    *value = *found;
  });
}

HALFTONE_EMULATED int cuDevicePrimaryCtxRetain(void **context, int device) {
  return withDriver([&](Driver &driver) {
    expectDevice(driver, device);
    std::unique_ptr<Context> &own = driver.contexts[device];
    if (!own)
      own = std::make_unique<Context>(driver.settings, device);
    ++own->retained;
    *context = own.get();
  });
}

HALFTONE_EMULATED int cuDevicePrimaryCtxRelease_v2(int device) {
  return withDriver([&](Driver &driver) {
    expectDevice(driver, device);
    auto found = driver.contexts.find(device);
    expect(found != driver.contexts.end(), Result::InvalidContext);
    if (--found->second->retained == 0)
      driver.contexts.erase(found);
  });
}

HALFTONE_EMULATED int cuCtxSetCurrent(void *context) {
  return withDriver([&](Driver &driver) {
    expect(!context || driver.holds(static_cast<Context *>(context)), Result::InvalidContext);
    currentContext = static_cast<Context *>(context);
  });
}

HALFTONE_EMULATED int cuCtxPushCurrent_v2(void *context) {
  return withDriver([&](Driver &driver) {
    expect(driver.holds(static_cast<Context *>(context)), Result::InvalidContext);
    contextsBelow.push_back(currentContext);
    currentContext = static_cast<Context *>(context);
  });
}

HALFTONE_EMULATED int cuCtxPopCurrent_v2(void **context) {
  return withDriver([&](Driver &) {
    expect(!contextsBelow.empty(), Result::InvalidContext);
    if (context)
      *context = currentContext;
    currentContext = contextsBelow.back();
    contextsBelow.pop_back();
  });
}

HALFTONE_EMULATED int cuCtxGetCurrent(void **context) {
  return withDriver([&](Driver &) { *context = currentContext; });
}

HALFTONE_EMULATED int cuCtxGetDevice(int *device) {
  return withContext([&](Context &context) { *device = context.device; });
}

HALFTONE_EMULATED int cuCtxSynchronize() {
  return withContext([](Context &context) { context.streams.finishAll(); });
}

HALFTONE_EMULATED int cuGetErrorName(int result, const char **name) {
  return findText(result, name, &ResultName::name);
}
HALFTONE_EMULATED int cuGetErrorString(int result, const char **text) {
  return findText(result, text, &ResultName::text);
}

/// The text of the last fault that stopped a context; empty if none did. Valid until the next fault.
HALFTONE_EMULATED const char *halftoneEmulatorFault() { return Driver::get().faultText.c_str(); }

/// Launches that have run and instructions of all their threads.
HALFTONE_EMULATED void halftoneEmulatorCounts(uint64_t *launches, uint64_t *threadInstructions) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  *launches = *threadInstructions = 0;
  for (const auto &[device, context] : driver.contexts) {
    *launches += context->counts.launches;
    *threadInstructions += context->counts.threadInstructions;
  }
}

/// As a new process: no context, no fault, and the environment is read again at cuInit.
HALFTONE_EMULATED void halftoneEmulatorReset() {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  driver.contexts.clear();
  driver.faultText.clear();
  driver.isInitialised = false;
}
