// Base class of host devices.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/HostDevice.h"
#include "runtime/devices/HostMemory.h"

namespace halftone {

StatusOr<DeviceMemory> HostDevice::allocate(int64_t bytes) { return allocateHostMemory(bytes); }

Status HostDevice::upload(std::byte *to, std::span<const std::byte> from) {
  if (!from.empty())
    std::memcpy(to, from.data(), from.size());
  uploads_.fetch_add(1, std::memory_order_relaxed);
  uploadedBytes_.fetch_add(static_cast<int64_t>(from.size()), std::memory_order_relaxed);
  return {};
}

Status HostDevice::download(std::span<std::byte> to, const std::byte *from) {
  if (!to.empty())
    std::memcpy(to.data(), from, to.size());
  downloads_.fetch_add(1, std::memory_order_relaxed);
  downloadedBytes_.fetch_add(static_cast<int64_t>(to.size()), std::memory_order_relaxed);
  return {};
}

DeviceCounters HostDevice::counters() const {
  return {.launches = *launches_,
          .copies = 0,
          .waits = 0,
          .graphLaunches = 0,
          .graphUpdates = 0,
          .uploads = uploads_,
          .downloads = downloads_,
          .uploadedBytes = uploadedBytes_,
          .downloadedBytes = downloadedBytes_};
}

} // namespace halftone
