// Zeroed, aligned host memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/HostMemory.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace halftone {

StatusOr<DeviceMemory> allocateHostMemory(int64_t bytes) {
  // More than the machine has is refused before the system lends it: writing the zeros would end the process.
  static const int64_t present = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (bytes < 0)
    return Status(ErrorKind::device_error, fmt::format("cannot allocate {} bytes", bytes));
  std::byte *memory = nullptr;
  if (bytes <= present) {
    const auto size = static_cast<size_t>((std::max<int64_t>(bytes, 1) + bufferAlignment - 1) & ~(bufferAlignment - 1));
    memory = static_cast<std::byte *>(std::aligned_alloc(bufferAlignment, size));
    if (memory)
      std::memset(memory, 0, size);
  }
  if (!memory)
    return Status(ErrorKind::device_error, fmt::format("out of memory: cannot allocate {} bytes", bytes));
  return DeviceMemory(memory, [](std::byte *p) { std::free(p); });
}

} // namespace halftone
