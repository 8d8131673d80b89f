// A ring buffer of pinned host memory for asynchronous uploads to a GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include "runtime/devices/cuda/DriverTypes.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::cuda {

class Gpu;

struct RingSize {
  size_t slots = 4;
  size_t slotBytes = size_t(32) << 20;
};

/// Packs uploads into a slot until it is full, then into the next one. The host waits only for a slot whose uploads
/// have not all completed, that is, if the whole ring is in flight. The caller of each member holds a GpuLock.
class Staging {
public:
  Staging(Gpu &gpu, RingSize size) : gpu_(gpu), size_(size), slots_(size.slots) {}
  /// Copies `from` to the GPU's memory in the compute stream's order; it has read `from` when it returns. Copies larger
  /// than a slot are split.
  Status copy(Address to, std::span<const std::byte> from);
  /// Frees the memory. Nothing may be in flight.
  void close();

private:
  struct Slot {
    std::byte *memory = nullptr; // pinned when the slot is first used
    Event arrived = nullptr;     // recorded when the slot is left
    bool isLeft = false;
  };
  StatusOr<std::byte *> place(size_t bytes);
  Status enterNextSlot();
  Status send(Address to, const std::byte *pinned, size_t bytes);
  Status sendAhead(Address to, const std::byte *pinned, size_t bytes);

  Gpu &gpu_;
  const RingSize size_;
  std::vector<Slot> slots_;
  size_t current_ = 0, used_ = 0; // bytes of the current slot in use
  Event ahead_ = nullptr;
};

} // namespace halftone::cuda
