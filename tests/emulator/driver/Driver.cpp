// The state behind the driver functions.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/driver/Driver.h"
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sstream>
#include <thread>

namespace halftone::emulator {

thread_local Context *currentContext = nullptr;
thread_local std::vector<Context *> contextsBelow;

bool stopsContext(Result result) {
  switch (result) {
#define HALFTONE_RESULT(name, symbol, value, stops, text)                                                              \
  case Result::name:                                                                                                   \
    return stops;
#include "tests/emulator/driver/Results.def"
  }
  return false;
}

Failures Failures::fromEnvironment() {
  const char *text = std::getenv("HALFTONE_EMULATOR_FAIL");
  std::istringstream words(text ? text : "");
  std::string function;
  uint64_t nth = 0;
  int result = 0;
  Failures failures;
  if (words >> function >> nth >> result)
    failures.plan(function, nth, static_cast<Result>(result));
  return failures;
}

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
  made.countsAccesses = number("HALFTONE_EMULATOR_ACCESSES", 0) != 0;
  made.isStub = number("HALFTONE_EMULATOR_STUB", 0) != 0;
  made.hasPools = number("HALFTONE_EMULATOR_POOLS", 1) != 0;
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

std::string Context::left() const {
  std::string text;
  const std::pair<size_t, const char *> all[] = {{streams.size(), "stream"},
                                                 {events.size(), "event"},
                                                 {images.size(), "module"},
                                                 {graphs.size(), "graph"},
                                                 {executions.size(), "graph execution"},
                                                 {pools.size(), "pool"},
                                                 {pinned.size(), "pinned memory"},
                                                 {memory.used(), "byte"}};
  for (const auto &[count, name] : all)
    if (count > 0)
      text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", count, name, count == 1 ? "" : "s");
  return text;
}

void letOthersWork() {
  Driver::get().mutex.unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  Driver::get().mutex.lock();
}

Driver &Driver::get() {
  static auto *driver = new Driver; // lives as long as the process: other threads may make calls until its end
  return *driver;
}

bool Driver::holds(const Context *context) const {
  return std::ranges::any_of(contexts, [&](const auto &each) { return each.second.get() == context; });
}

void Driver::stop(Context &context, Result result) {
  context.sticky = result;
  context.streams.drop();
}

Result Driver::note(Context &context, const Fault &fault) {
  constexpr Result results[] = {Result::IllegalAddress, Result::MisalignedAddress, Result::LaunchFailed};
  faultText = fault.what();
  fmt::print(stderr, "emulated CUDA driver: {}\n", faultText);
  stop(context, results[static_cast<int>(fault.kind)]);
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
