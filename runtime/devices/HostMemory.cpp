// Allocates zeroed, aligned host memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/HostMemory.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/base/PageMemory.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace halftone {

/// Returns null if that much memory is not free.
static void *allocateBlock(size_t bytes) {
  if (bytes >= minHugeBlock)
    return allocatePages(bytes);
  constexpr size_t alignment = bufferAlignment;
  return std::aligned_alloc(alignment, (std::max<size_t>(bytes, 1) + alignment - 1) & ~(alignment - 1));
}

StatusOr<DeviceMemory> allocateHostMemory(int64_t bytes) {
  if (bytes < 0)
    return Status(ErrorKind::device_error, fmt::format("cannot allocate {} bytes", bytes));
  const auto size = static_cast<size_t>(bytes);
  auto *const memory = static_cast<std::byte *>(allocateBlock(size));
  if (!memory)
    return Status(ErrorKind::device_error, "out of memory: " + memoryShortage(bytes));
  std::memset(memory, 0, size);
  return DeviceMemory(memory, [](std::byte *p) { std::free(p); });
}

} // namespace halftone
