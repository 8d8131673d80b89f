// The addresses of a plan's fetches: fixed ones for small fetches on devices other than the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include "runtime/Device.h"
#include "runtime/plan/Executable.h"
#include <memory>
#include <vector>

namespace halftone {

/// The addresses to which one player's plan writes its fetches. On the host the plan writes directly into the tensors
/// that a play returns. Elsewhere changing an address costs more than copying a few bytes: a GPU runs the plan as a
/// graph whose nodes hold the addresses. There each fetch of up to `maxFixedBytes` bytes has a fixed address, and the
/// fetches of up to `maxSharedBytes` bytes are contiguous and copied out together. Tensors of earlier plays keep their
/// values. Larger fetches are written directly to their tensors.
class FetchBuffers {
public:
  static constexpr int64_t maxSharedBytes = 1024, maxFixedBytes = int64_t(1) << 20;

  /// Allocates the memory of the fixed addresses. `executable` must outlive this object. Errors are those of
  /// DeviceRuntime::allocate(), with the executable's name.
  static StatusOr<FetchBuffers> make(const Executable &executable, std::shared_ptr<DeviceRuntime> device);

  /// Allocates the tensors of one play, in the signature's order. device_error naming the fetch for which there is no
  /// memory.
  StatusOr<std::vector<Tensor>> tensors();
  /// The address to which the plan writes fetch `index` in the play of the last tensors() call.
  std::byte *address(size_t index) const { return addresses_[index]; }
  /// Queues the copies from fixed addresses to the tensors of the last tensors() call. Call it after the plan's steps
  /// are queued.
  void copyOut(DeviceQueue &queue);

private:
  /// A run of fetches that are copied out together and whose tensors share memory.
  struct Run {
    int64_t offset = 0, bytes = 0; // in `fixed_`
    DeviceMemory to = {};          // of the tensors, between tensors() and copyOut()
  };
  struct Location {
    int64_t run = -1, offset = 0; // -1: none; the offset in the run
  };
  FetchBuffers(const Executable &executable, std::shared_ptr<DeviceRuntime> device);
  void place(size_t index, int64_t run);
  StatusOr<Tensor> tensor(size_t index);

  const Executable *executable_;
  std::shared_ptr<DeviceRuntime> device_;
  DeviceMemory fixed_;
  std::vector<Run> runs_;
  std::vector<Location> locations_; // of the fetches
  std::vector<std::byte *> addresses_;
};

} // namespace halftone
