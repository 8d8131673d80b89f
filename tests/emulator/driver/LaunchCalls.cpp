// cu* functions of kernels, streams and events.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/driver/Driver.h"
#include <algorithm>

using namespace halftone::emulator;

namespace {

constexpr unsigned nonBlocking = 1;

int attributeOf(const Context &context, const Function &function, FunctionAttribute attribute) {
  const Kernel &kernel = *function.kernel;
  uint32_t most = kernel.maxThreads[0] * kernel.maxThreads[1] * kernel.maxThreads[2];
  switch (attribute) {
  case FunctionAttribute::MaxThreadsPerBlock:
    return most ? most : 1024;
  case FunctionAttribute::SharedSizeBytes:
    return kernel.staticSharedBytes;
  case FunctionAttribute::ConstSizeBytes:
    return 0;
  case FunctionAttribute::LocalSizeBytes:
    return kernel.localBytes;
  case FunctionAttribute::NumRegs: // those declared in the PTX, before any reuse
    return std::min<uint32_t>(kernel.registers, 255);
  case FunctionAttribute::PtxVersion:
  case FunctionAttribute::BinaryVersion:
    return context.settings.capability;
  case FunctionAttribute::MaxDynamicSharedSizeBytes:
    return function.dynamicSharedLimit;
  default:
    throw DriverError{Result::InvalidValue};
  }
}

} // namespace

HALFTONE_EMULATED int cuFuncGetAttribute(int *value, int attribute, void *function) {
  return withContext([&](Context &context) {
    *value = attributeOf(context, context.functionOf(function), static_cast<FunctionAttribute>(attribute));
  });
}

HALFTONE_EMULATED int cuFuncSetAttribute(void *function, int attribute, int value) {
  return withContext([&](Context &context) {
    Function &found = context.functionOf(function);
    auto named = static_cast<FunctionAttribute>(attribute);
    if (named == FunctionAttribute::PreferredSharedMemoryCarveout)
      return;
    expect(named == FunctionAttribute::MaxDynamicSharedSizeBytes && value >= 0);
    expect(value + found.kernel->staticSharedBytes <= context.settings.sharedBytesPerBlock());
    found.dynamicSharedLimit = value;
  });
}

HALFTONE_EMULATED int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                     unsigned blockY, unsigned blockZ, unsigned sharedBytes, void *stream,
                                     void **parameters, void **extra) {
  return withContext([&](Context &context) {
    const Function &found = context.functionOf(function);
    expect(!extra);
    Stream *queue = context.streamOf(stream);
    LaunchShape shape{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes};
    Launch launch = makeLaunch(context, found, shape, parameters);
    context.streams.add(queue,
                        [&context, launch = std::move(launch), module = found.module] { runIn(context, launch); });
  });
}

HALFTONE_EMULATED int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
  return withContext(
      [&](Context &context) { context.streams.add(context.streamOf(stream), [function, data] { function(data); }); });
}

HALFTONE_EMULATED int cuStreamCreate(void **stream, unsigned flags) {
  return withContext([&](Context &context) {
    expect(flags <= nonBlocking);
    *stream = context.streams.create(flags != nonBlocking);
  });
}

HALFTONE_EMULATED int cuStreamCreateWithPriority(void **stream, unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}

HALFTONE_EMULATED int cuStreamDestroy_v2(void *stream) {
  return withContext([&](Context &context) {
    Stream *queue = context.streamOf(stream);
    expect(queue != nullptr, Result::InvalidHandle);
    context.streams.destroy(queue);
  });
}

HALFTONE_EMULATED int cuStreamSynchronize(void *stream) {
  return withContext([&](Context &context) {
    context.wait([&, queue = context.streamOf(stream)] { context.streams.finish(queue); });
  });
}

HALFTONE_EMULATED int cuStreamQuery(void *stream) {
  return withContext([&](Context &context) {
    Stream *queue = context.streamOf(stream);
    context.streams.runOne();
    expect(!queue || queue->queue.empty(), Result::NotReady);
  });
}

HALFTONE_EMULATED int cuStreamWaitEvent(void *stream, void *event, unsigned) {
  return withContext(
      [&](Context &context) { context.streams.wait(context.streamOf(stream), context.eventOf(event).mark); });
}

HALFTONE_EMULATED int cuEventCreate(void **event, unsigned) {
  return withContext([&](Context &context) {
    auto made = std::make_unique<Event>();
    *event = made.get();
    context.events[made.get()] = std::move(made);
  });
}

HALFTONE_EMULATED int cuEventDestroy_v2(void *event) {
  return withContext([&](Context &context) { expect(context.events.erase(event) == 1, Result::InvalidHandle); });
}

HALFTONE_EMULATED int cuEventRecord(void *event, void *stream) {
  return withContext(
      [&](Context &context) { context.streams.record(context.streamOf(stream), context.eventOf(event)); });
}

/// Each query lets one operation run, so that polling terminates.
HALFTONE_EMULATED int cuEventQuery(void *event) {
  return withContext([&](Context &context) {
    Event &found = context.eventOf(event);
    if (found.mark && !found.mark->reached)
      context.streams.runOne();
    expect(!found.mark || found.mark->reached, Result::NotReady);
  });
}

HALFTONE_EMULATED int cuEventSynchronize(void *event) {
  return withContext([&](Context &context) {
    Event &found = context.eventOf(event);
    if (found.mark)
      context.wait([&] { context.streams.finish(*found.mark); });
  });
}

HALFTONE_EMULATED int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  return withContext([&](Context &context) {
    const Event &first = context.eventOf(start), &last = context.eventOf(end);
    expect(first.mark && last.mark, Result::InvalidHandle);
    expect(first.mark->reached && last.mark->reached, Result::NotReady);
    *milliseconds = std::chrono::duration<float, std::milli>(last.mark->time - first.mark->time).count();
  });
}
