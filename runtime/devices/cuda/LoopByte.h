// The byte that says whether a loop goes on, brought to the host while the GPU works on.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/Gpu.h"
#include <array>
#include <memory>

namespace halftone::cuda {

/// Two copies of the byte may be on their way at once. Use it in the GPU's turn.
class LoopByte {
public:
  explicit LoopByte(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~LoopByte();
  LoopByte(const LoopByte &) = delete;
  LoopByte &operator=(const LoopByte &) = delete;
  /// Queues a copy of the byte behind all work that is queued. Copies are numbered 0, 1, 2, ...; copy n takes the place of
  /// copy n - 2.
  Status bring(const std::byte *from, int64_t number);
  /// The byte of that copy; waits for it, and for no work behind it.
  StatusOr<std::byte> wait(int64_t number);

private:
  static constexpr size_t step = 64; // bytes from one copy's place to the other's
  std::shared_ptr<Gpu> gpu_;
  std::byte *memory_ = nullptr; // pinned
  std::array<Event, 2> arrived_{};
};

} // namespace halftone::cuda
