// The state behind the driver's functions.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/driver/Driver.h"
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>

namespace halftone::emulator {

thread_local Context *currentContext = nullptr;
thread_local std::vector<Context *> contextsBelow;

Settings Settings::fromEnvironment() {
  auto number = [](const char *name, uint64_t otherwise) {
    const char *text = std::getenv(name);
    return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
  };
  Settings made;
  made.seed = number("HALFTONE_EMULATOR_SEED", made.seed);
  made.capability = number("HALFTONE_EMULATOR_CAPABILITY", made.capability);
  made.memory = number("HALFTONE_EMULATOR_MEMORY", made.memory);
  made.driverVersion = number("HALFTONE_EMULATOR_DRIVER", made.driverVersion);
  made.devices = static_cast<int>(number("HALFTONE_EMULATOR_DEVICES", made.devices));
  made.isStub = number("HALFTONE_EMULATOR_STUB", 0) != 0;
  return made;
}

uint32_t Settings::sharedBytesPerBlock() const {
  if (capability == 80)
    return 163 * 1024;
  return capability < 90 ? 99 * 1024 : 227 * 1024;
}

Context::~Context() {
  for (const auto &[start, bytes] : pinned)
    std::free(const_cast<void *>(start));
}

bool Context::isPinned(const void *start, size_t bytes) const {
  auto after = pinned.upper_bound(start);
  if (after == pinned.begin())
    return false;
  auto [first, size] = *std::prev(after);
  return static_cast<const char *>(start) + bytes <= static_cast<const char *>(first) + size;
}

Stream *Context::streamOf(void *handle) {
  auto *stream = static_cast<Stream *>(handle);
  bool isNull = !handle || reinterpret_cast<uintptr_t>(handle) == 1; // CU_STREAM_LEGACY
  expect(isNull || streams.isStream(stream), Result::InvalidHandle);
  return isNull ? nullptr : stream;
}

Event &Context::eventOf(void *handle) {
  auto found = events.find(handle);
  expect(found != events.end(), Result::InvalidHandle);
  return *found->second;
}

Function &Context::functionOf(void *handle) {
  expect(functions.contains(static_cast<Function *>(handle)), Result::InvalidHandle);
  return *static_cast<Function *>(handle);
}

void letOthersWork() {
  Driver::get().mutex.unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  Driver::get().mutex.lock();
}

Driver &Driver::get() {
  static auto *driver = new Driver; // lives as long as the process: other threads may call to its end
  return *driver;
}

bool Driver::holds(const Context *context) const {
  return std::ranges::any_of(contexts, [&](const auto &each) { return each.second.get() == context; });
}

Result Driver::note(Context &context, const Fault &fault) {
  constexpr Result results[] = {Result::IllegalAddress, Result::MisalignedAddress, Result::LaunchFailed};
  context.sticky = results[static_cast<int>(fault.kind)];
  faultText = fault.what();
  fmt::print(stderr, "emulated CUDA driver: {}\n", faultText);
  context.streams.drop();
  return context.sticky;
}

Launch makeLaunch(const Context &context, const Function &function, const LaunchShape &shape, void **parameters) {
  const Kernel &kernel = *function.kernel;
  const auto &[grid, threads, sharedBytes] = shape;
  uint64_t count = uint64_t(threads[0]) * threads[1] * threads[2];
  expect(grid[0] && grid[1] && grid[2] && grid[0] < (1u << 31) && grid[1] < 65536 && grid[2] < 65536);
  expect(count >= 1 && count <= 1024 && threads[2] <= 64);
  uint32_t most = kernel.maxThreads[0] * kernel.maxThreads[1] * kernel.maxThreads[2];
  expect(most == 0 || count <= most);
  expect(kernel.requiredThreads[0] == 0 || kernel.requiredThreads == threads);
  expect(sharedBytes <= function.dynamicSharedLimit);
  expect(sharedBytes + kernel.staticSharedBytes <= context.settings.sharedBytesPerBlock(),
         Result::LaunchOutOfResources);
  expect(parameters || kernel.parameters.empty());
  Launch launch{&kernel, grid, threads, sharedBytes, std::vector<std::byte>(kernel.parameterBytes)};
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    expect(parameters[i] != nullptr);
    std::memcpy(launch.parameters.data() + kernel.parameters[i].offset, parameters[i], kernel.parameters[i].bytes);
  }
  return launch;
}

void runIn(Context &context, const Launch &launch) {
  runLaunch(launch, context.memory, context.random, context.counts);
}

} // namespace halftone::emulator
