// The ring of pinned memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Staging.h"
#include "runtime/devices/cuda/Gpu.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace halftone::cuda {
namespace {

constexpr size_t step = 64;                       // alignment of uploads in a slot
constexpr size_t minBytesAhead = size_t(1) << 20; // for fewer bytes a second copy on the GPU costs more than it hides

} // namespace

Status Staging::copy(Address to, std::span<const std::byte> from) {
  while (!from.empty()) {
    const size_t bytes = std::min(from.size(), size_.slotBytes);
    StatusOr<std::byte *> pinned = place(bytes);
    HALFTONE_RETURN_IF_ERROR(pinned.status());
    std::memcpy(*pinned, from.data(), bytes);
    HALFTONE_RETURN_IF_ERROR(bytes < minBytesAhead ? send(to, *pinned, bytes) : sendAhead(to, *pinned, bytes));
    to += bytes;
    from = from.subspan(bytes);
  }
  return {};
}

/// Reserves space for the bytes in the current slot or, if it has too little, in the next.
StatusOr<std::byte *> Staging::place(size_t bytes) {
  if (size_.slotBytes - used_ < bytes)
    HALFTONE_RETURN_IF_ERROR(enterNextSlot());
  Slot &slot = slots_[current_];
  if (!slot.memory) {
    void *memory = nullptr;
    HALFTONE_RETURN_IF_ERROR(gpu_.check(gpu_.calls().memHostAlloc(&memory, size_.slotBytes, 0),
                                        fmt::format("pinning {} bytes of the host's memory", size_.slotBytes)));
    slot.memory = static_cast<std::byte *>(memory);
  }
  std::byte *const address = slot.memory + used_;
  used_ = std::min(used_ + (bytes + step - 1) / step * step, size_.slotBytes);
  return address;
}

Status Staging::enterNextSlot() {
  Slot &left = slots_[current_];
  if (!left.arrived)
    HALFTONE_RETURN_IF_ERROR(
        gpu_.check(gpu_.calls().eventCreate(&left.arrived, eventWithoutTime), "creating an event"));
  HALFTONE_RETURN_IF_ERROR(gpu_.check(gpu_.calls().eventRecord(left.arrived, gpu_.compute()), "an upload"));
  left.isLeft = true;
  const size_t after = (current_ + 1) % slots_.size();
  if (slots_[after].isLeft)
    HALFTONE_RETURN_IF_ERROR(gpu_.wait(slots_[after].arrived));
  slots_[after].isLeft = false;
  current_ = after;
  used_ = 0;
  return {};
}

Status Staging::send(Address to, const std::byte *pinned, size_t bytes) {
  return gpu_.check(gpu_.calls().memcpyHtoDAsync(to, pinned, bytes, gpu_.compute()), "an upload");
}

/// Sends the bytes on the copy stream to separate memory, while the compute stream may still be using the bytes at
/// `to`; the compute stream then copies them there.
Status Staging::sendAhead(Address to, const std::byte *pinned, size_t bytes) {
  const Functions &calls = gpu_.calls();
  if (!ahead_)
    HALFTONE_RETURN_IF_ERROR(gpu_.check(calls.eventCreate(&ahead_, eventWithoutTime), "creating an event"));
  const StatusOr<DeviceMemory> near = gpu_.allocateAhead(static_cast<int64_t>(bytes));
  HALFTONE_RETURN_IF_ERROR(near.status());
  if (!*near) // little memory is left
    return send(to, pinned, bytes);
  const Address address = addressOf(near->get());
  Result result = calls.memcpyHtoDAsync(address, pinned, bytes, gpu_.copying());
  if (result == Result::success)
    result = calls.eventRecord(ahead_, gpu_.copying());
  if (result == Result::success)
    result = calls.streamWaitEvent(gpu_.compute(), ahead_, 0);
  if (result == Result::success)
    result = calls.memcpyDtoDAsync(to, address, bytes, gpu_.compute());
  if (result != Result::success) // the compute stream frees the memory, possibly without waiting for the copy to it
    (void)calls.streamSynchronize(gpu_.copying());
  return gpu_.check(result, "an upload");
}

void Staging::close() {
  for (Slot &slot : slots_) {
    if (slot.memory)
      (void)gpu_.calls().memFreeHost(slot.memory);
    if (slot.arrived)
      (void)gpu_.calls().eventDestroy(slot.arrived);
  }
  if (ahead_)
    (void)gpu_.calls().eventDestroy(ahead_);
}

} // namespace halftone::cuda
