// Zeroed, aligned host memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/HostMemory.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace halftone {

StatusOr<DeviceMemory> allocateHostMemory(int64_t bytes) {
  constexpr int64_t largest = int64_t(1) << 60;
  if (bytes < 0 || bytes > largest)
    return Status(ErrorKind::device_error, fmt::format("cannot allocate {} bytes", bytes));
  const auto size =
      static_cast<size_t>(std::max<int64_t>(bytes, 1) + bufferAlignment - 1) & ~size_t(bufferAlignment - 1);
  auto *memory = static_cast<std::byte *>(std::aligned_alloc(bufferAlignment, size));
  if (!memory)
    return Status(ErrorKind::device_error, fmt::format("out of memory: cannot allocate {} bytes", bytes));
  std::memset(memory, 0, size);
  return DeviceMemory(memory, [](std::byte *p) { std::free(p); });
}

} // namespace halftone
