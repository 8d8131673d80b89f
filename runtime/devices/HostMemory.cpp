// Zeroed, aligned host memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/HostMemory.h"
#include "runtime/base/FreeMemory.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace halftone {

StatusOr<DeviceMemory> allocateHostMemory(int64_t bytes) {
  if (bytes < 0)
    return Status(ErrorKind::device_error, fmt::format("cannot allocate {} bytes", bytes));
  std::byte *memory = nullptr;
  if (fitsMemory(bytes)) { // else the system may promise memory, and end the process when it is written
    const auto size = static_cast<size_t>((std::max<int64_t>(bytes, 1) + bufferAlignment - 1) & ~(bufferAlignment - 1));
    memory = static_cast<std::byte *>(std::aligned_alloc(bufferAlignment, size));
    if (memory)
      std::memset(memory, 0, size);
  }
  if (!memory)
    return Status(ErrorKind::device_error, "out of memory: " + memoryShortage(bytes));
  return DeviceMemory(memory, [](std::byte *p) { std::free(p); });
}

} // namespace halftone
