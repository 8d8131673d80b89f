// cu* functions of the driver itself, of devices and contexts, and of the emulator's own state.
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
#define HALFTONE_RESULT(name, symbol, value, stops, text) {Result::name, #symbol, text},
#include "tests/emulator/driver/Results.def"
};

struct DeviceAttribute {
  int attribute;
  int value;
};

/// The attributes of an A100 with 80 GB. Those that depend on the compute capability are in attributeOf.
constexpr DeviceAttribute attributes[] = {
    {1, 1024},      {2, 1024},  {3, 1024}, {4, 64},     {5, 2147483647}, {6, 65535},    {7, 65535},
    {8, 49152},     {9, 65536}, {10, 32},  {12, 65536}, {13, 1410000},   {14, 512},     {15, 1},
    {16, 108},      {18, 0},    {19, 1},   {20, 0},     {31, 1},         {36, 1215000}, {37, 5120},
    {38, 41943040}, {39, 2048}, {40, 3},   {41, 1},     {82, 65536},     {111, 1024}};

std::optional<int> attributeOf(const Settings &settings, int attribute) {
  switch (attribute) {
  case 75:
    return settings.capability / 10;
  case 76:
    return settings.capability % 10;
  case 81: // shared memory of a multiprocessor: 1 KiB more than the maximum of a block
    return settings.sharedBytesPerBlock() + 1024;
  case 97:
    return settings.sharedBytesPerBlock();
  case 115:
    return settings.hasPools;
  default:
    break;
  }
  const auto *found = std::ranges::find(attributes, attribute, &DeviceAttribute::attribute);
  return found == std::end(attributes) ? std::nullopt : std::optional(found->value);
}

/// Runs f(driver) under the lock, after cuInit has been called.
template <typename F> int withDriver(F f, const char *function = __builtin_FUNCTION()) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  if (const Result planned = driver.failures.next(function); planned != Result::Success)
    return static_cast<int>(planned);
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

int findText(int result, const char **text, const char *ResultName::*member,
             const char *function = __builtin_FUNCTION()) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  if (const Result planned = driver.failures.next(function); planned != Result::Success)
    return static_cast<int>(planned);
  const auto *found = std::ranges::find(resultNames, static_cast<Result>(result), &ResultName::result);
  bool known = found != std::end(resultNames);
  *text = known ? found->*member : nullptr;
  return static_cast<int>(known ? Result::Success : Result::InvalidValue);
}

} // namespace

HALFTONE_EMULATED int cuInit(unsigned flags) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  if (const Result planned = driver.failures.next(__func__); planned != Result::Success)
    return static_cast<int>(planned);
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
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  if (const Result planned = driver.failures.next(__func__); planned != Result::Success)
    return static_cast<int>(planned);
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
    if (--found->second->retained == 0) {
      driver.leftText = found->second->left();
      driver.contexts.erase(found);
    }
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

/// The number of launches that have run, and of the instructions of all their threads.
HALFTONE_EMULATED void halftoneEmulatorCounts(uint64_t *launches, uint64_t *threadInstructions) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  *launches = *threadInstructions = 0;
  for (const auto &[device, context] : driver.contexts) {
    *launches += context->counts.launches;
    *threadInstructions += context->counts.threadInstructions;
  }
}

/// Lets the n-th call from now (1 is the next one) of the driver function with this name return this result at once.
/// Result 0: no call.
HALFTONE_EMULATED void halftoneEmulatorFail(const char *function, uint64_t nth, int result) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  driver.failures.plan(function, nth, static_cast<Result>(result));
}

/// The number of calls of the function.
HALFTONE_EMULATED uint64_t halftoneEmulatorCalls(const char *function) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  return driver.failures.calls(function);
}

/// Names the objects that the last closed context still held, as "2 events, 1 module"; empty if none.
HALFTONE_EMULATED const char *halftoneEmulatorLeft() { return Driver::get().leftText.c_str(); }

static uint64_t ofAllContexts(uint64_t Context::*count) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  uint64_t sum = 0;
  for (const auto &[device, context] : driver.contexts)
    sum += (*context).*count;
  return sum;
}

/// The number of dependencies between streams that allocations from pools have added in all contexts.
HALFTONE_EMULATED uint64_t halftoneEmulatorPoolWaits() { return ofAllContexts(&Context::poolWaits); }

/// The number of host waits for an event or a stream that ended with no work left in their context, so that a GPU is
/// idle until the host queues more.
HALFTONE_EMULATED uint64_t halftoneEmulatorIdleWaits() { return ofAllContexts(&Context::idleWaits); }

/// The table of accesses (AccessCounts.h) of all launches of each device's context; empty unless they are counted. Valid until the next
/// call.
HALFTONE_EMULATED const char *halftoneEmulatorAccesses() {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  driver.accessTable.clear();
  for (const auto &[device, context] : driver.contexts)
    if (context->counts.accesses)
      driver.accessTable += context->counts.accesses->table();
  return driver.accessTable.c_str();
}

/// Resets to the state of a new process: no context, no fault, and cuInit reads the environment again.
HALFTONE_EMULATED void halftoneEmulatorReset() {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  driver.contexts.clear();
  driver.faultText.clear();
  driver.leftText.clear();
  driver.failures = Failures::fromEnvironment();
  driver.isInitialised = false;
}
