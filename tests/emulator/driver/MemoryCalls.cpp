// cu* functions of memory: allocations, pools, copies and fills.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/driver/Driver.h"
#include <cstdlib>

using namespace halftone::emulator;

namespace {

/// Reserves memory. If memory is full, tries again after all queued work has run, since that may free some.
uint64_t reserve(Context &context, size_t bytes) {
  expect(bytes > 0);
  std::optional<uint64_t> address = context.memory.reserve(bytes);
  if (!address) {
    context.streams.finishAll();
    address = context.memory.reserve(bytes);
  }
  expect(address.has_value(), Result::OutOfMemory);
  return *address;
}

int allocateIn(void *stream, DevicePointer *pointer, size_t bytes, const char *function = __builtin_FUNCTION()) {
  return withContext(
      [&](Context &context) {
        Stream *queue = context.streamOf(stream);
        *pointer = reserve(context, bytes);
        context.streams.add(queue, [&context, address = *pointer] { context.memory.open(address); });
      },
      function);
}

/// Copies to the device read pinned memory late, and other memory before the function returns.
int upload(void *stream, DevicePointer to, const void *from, size_t bytes, bool waits,
           const char *function = __builtin_FUNCTION()) {
  return withContext(
      [&](Context &context) {
        Stream *queue = context.streamOf(stream);
        if (!bytes)
          return;
        if (waits || context.isPinned(from, bytes)) {
          context.streams.add(queue, [&context, to, from, bytes] { context.memory.write(to, from, bytes); });
          return;
        }
        auto start = static_cast<const std::byte *>(from);
        context.streams.add(queue, [&context, to, copy = std::vector<std::byte>(start, start + bytes)] {
          context.memory.write(to, copy.data(), copy.size());
        });
      },
      function);
}

int download(void *stream, void *to, DevicePointer from, size_t bytes, const char *function = __builtin_FUNCTION()) {
  return withContext(
      [&](Context &context) {
        Stream *queue = context.streamOf(stream);
        if (!bytes)
          return;
        context.streams.add(queue, [&context, to, from, bytes] { context.memory.read(to, from, bytes); });
        if (!context.isPinned(to, bytes))
          context.streams.finish(queue);
      },
      function);
}

int copy(void *stream, DevicePointer to, DevicePointer from, size_t bytes,
         const char *function = __builtin_FUNCTION()) {
  return withContext(
      [&](Context &context) {
        Stream *queue = context.streamOf(stream);
        if (bytes)
          context.streams.add(queue, [&context, to, from, bytes] { context.memory.copy(to, from, bytes); });
      },
      function);
}

int fill(void *stream, DevicePointer to, uint32_t value, uint32_t width, size_t count,
         const char *function = __builtin_FUNCTION()) {
  return withContext(
      [&](Context &context) {
        Stream *queue = context.streamOf(stream);
        if (count)
          context.streams.add(queue,
                              [&context, to, value, width, count] { context.memory.fill(to, value, width, count); });
      },
      function);
}

/// The pool of a device that has created none.
Pool defaultPool;

Pool &poolAt(const Context &context, const void *pool) {
  auto found = context.pools.find(pool);
  expect(pool == &defaultPool || found != context.pools.end());
  return pool == &defaultPool ? defaultPool : *found->second;
}

void waitForFrees(Context &context, const void *named, Stream *stream) {
  Pool &pool = poolAt(context, named);
  if (!pool.addsDependencies || !pool.freed || pool.freed->reached || pool.freedIn == stream)
    return;
  context.streams.wait(stream, pool.freed);
  ++context.poolWaits;
}

/// Records that memory is freed here, in stream order.
void noteFree(Context &context, DevicePointer pointer, Stream *stream) {
  auto found = context.poolOf.find(pointer);
  if (found == context.poolOf.end())
    return;
  Event freed;
  context.streams.record(stream, freed);
  found->second->freedIn = stream;
  found->second->freed = freed.mark;
  context.poolOf.erase(found);
}

} // namespace

HALFTONE_EMULATED int cuMemGetInfo_v2(size_t *freeBytes, size_t *total) {
  return withContext([&](Context &context) {
    *total = context.memory.capacity();
    *freeBytes = context.memory.capacity() - context.memory.used();
  });
}

HALFTONE_EMULATED int cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) {
  return withContext([&](Context &context) {
    *pointer = reserve(context, bytes);
    context.memory.open(*pointer);
  });
}

HALFTONE_EMULATED int cuMemFree_v2(DevicePointer pointer) {
  return withContext([&](Context &context) {
    context.streams.finishAll();
    expect(!pointer || context.memory.release(pointer));
  });
}

HALFTONE_EMULATED int cuMemAllocAsync(DevicePointer *pointer, size_t bytes, void *stream) {
  return allocateIn(stream, pointer, bytes);
}

HALFTONE_EMULATED int cuMemAllocFromPoolAsync(DevicePointer *pointer, size_t bytes, void *pool, void *stream) {
  int known = withContext([&](Context &context) { waitForFrees(context, pool, context.streamOf(stream)); });
  if (!known)
    known = allocateIn(stream, pointer, bytes, "");
  return known ? known : withContext([&](Context &context) { context.poolOf[*pointer] = &poolAt(context, pool); }, "");
}

HALFTONE_EMULATED int cuMemFreeAsync(DevicePointer pointer, void *stream) {
  return withContext([&](Context &context) {
    Stream *queue = context.streamOf(stream);
    expect(context.memory.sizeAt(pointer).has_value());
    context.streams.add(queue, [&context, pointer] {
      if (!context.memory.release(pointer))
        throw Fault(FaultKind::IllegalAddress, "a free in a stream of memory that has been freed before");
    });
    noteFree(context, pointer, queue);
  });
}

HALFTONE_EMULATED int cuDeviceGetDefaultMemPool(void **pool, int device) {
  return withContext([&](Context &context) {
    expect(device == context.device, Result::InvalidDevice);
    *pool = &defaultPool;
  });
}

HALFTONE_EMULATED int cuMemPoolCreate(void **pool, const PoolProperties *properties) {
  return withContext([&](Context &context) {
    expect(context.settings.hasPools, Result::NotSupported);
    expect(properties && properties->locationId == context.device);
    auto made = std::make_unique<Pool>();
    *pool = made.get();
    context.pools[*pool] = std::move(made);
  });
}

HALFTONE_EMULATED int cuMemPoolDestroy(void *pool) {
  return withContext([&](Context &context) {
    std::erase_if(context.poolOf, [pool](const auto &each) { return each.second == pool; });
    expect(context.pools.erase(pool) == 1);
  });
}

HALFTONE_EMULATED int cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
  return withContext([&](Context &context) {
    Pool &found = poolAt(context, pool);
    const auto named = static_cast<PoolAttribute>(attribute);
    expect(named >= PoolAttribute::ReuseFollowEventDependencies && named <= PoolAttribute::ReleaseThreshold);
    if (named == PoolAttribute::ReleaseThreshold)
      context.releaseThreshold = *static_cast<uint64_t *>(value);
    else if (named == PoolAttribute::ReuseAllowInternalDependencies)
      found.addsDependencies = *static_cast<int *>(value) != 0;
  });
}

HALFTONE_EMULATED int cuMemPoolGetAttribute(void *pool, int attribute, void *value) {
  return withContext([&](Context &context) {
    poolAt(context, pool);
    expect(attribute >= static_cast<int>(PoolAttribute::ReleaseThreshold) &&
           attribute <= static_cast<int>(PoolAttribute::UsedMemHigh));
    bool isThreshold = attribute == static_cast<int>(PoolAttribute::ReleaseThreshold);
    *static_cast<uint64_t *>(value) = isThreshold ? context.releaseThreshold : context.memory.used();
  });
}

HALFTONE_EMULATED int cuMemPoolTrimTo(void *pool, size_t) {
  return withContext([&](Context &context) { poolAt(context, pool); });
}

HALFTONE_EMULATED int cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  return withContext([&](Context &context) {
    expect(bytes > 0);
    void *made = std::malloc(bytes);
    expect(made != nullptr, Result::OutOfMemory);
    context.pinned[made] = bytes;
    *pointer = made;
  });
}

HALFTONE_EMULATED int cuMemFreeHost(void *pointer) {
  return withContext([&](Context &context) {
    expect(context.pinned.contains(pointer));
    context.streams.finishAll();
    context.pinned.erase(pointer);
    std::free(pointer);
  });
}

HALFTONE_EMULATED int cuMemcpyHtoD_v2(DevicePointer to, const void *from, size_t bytes) {
  return upload(nullptr, to, from, bytes, true);
}
HALFTONE_EMULATED int cuMemcpyHtoDAsync_v2(DevicePointer to, const void *from, size_t bytes, void *stream) {
  return upload(stream, to, from, bytes, false);
}
HALFTONE_EMULATED int cuMemcpyDtoH_v2(void *to, DevicePointer from, size_t bytes) {
  return download(nullptr, to, from, bytes);
}
HALFTONE_EMULATED int cuMemcpyDtoHAsync_v2(void *to, DevicePointer from, size_t bytes, void *stream) {
  return download(stream, to, from, bytes);
}
HALFTONE_EMULATED int cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, size_t bytes) {
  return copy(nullptr, to, from, bytes);
}
HALFTONE_EMULATED int cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes, void *stream) {
  return copy(stream, to, from, bytes);
}
HALFTONE_EMULATED int cuMemsetD8_v2(DevicePointer to, unsigned char value, size_t count) {
  return fill(nullptr, to, value, 1, count);
}
HALFTONE_EMULATED int cuMemsetD16_v2(DevicePointer to, unsigned short value, size_t count) {
  return fill(nullptr, to, value, 2, count);
}
HALFTONE_EMULATED int cuMemsetD32_v2(DevicePointer to, unsigned value, size_t count) {
  return fill(nullptr, to, value, 4, count);
}
HALFTONE_EMULATED int cuMemsetD8Async(DevicePointer to, unsigned char value, size_t count, void *stream) {
  return fill(stream, to, value, 1, count);
}
HALFTONE_EMULATED int cuMemsetD16Async(DevicePointer to, unsigned short value, size_t count, void *stream) {
  return fill(stream, to, value, 2, count);
}
HALFTONE_EMULATED int cuMemsetD32Async(DevicePointer to, unsigned value, size_t count, void *stream) {
  return fill(stream, to, value, 4, count);
}
