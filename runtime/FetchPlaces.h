// Where a plan makes its fetches: on a device that is no host at addresses that stay, from which each play copies them to its tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include "runtime/Device.h"
#include "runtime/plan/Executable.h"
#include <memory>
#include <vector>

namespace halftone {

/// The places of one player's fetches. On the host the plan writes into the tensors that a play returns. Elsewhere a change
/// of an address costs more than a copy of few bytes: a GPU runs the plan as a graph, whose nodes hold the addresses. So
/// there each fetch of up to `mostFixedBytes` bytes has one address for good; the fetches of up to `mostSharedBytes` bytes
/// lie side by side and leave with one copy. Tensors of earlier plays keep their values. Larger fetches are made in their
/// tensors.
class FetchPlaces {
public:
  static constexpr int64_t mostSharedBytes = 1024, mostFixedBytes = int64_t(1) << 20;

  /// Allocates the places of fixed addresses. `executable` outlives this object. Errors are those of
  /// DeviceRuntime::allocate(), with the executable's name.
  static StatusOr<FetchPlaces> make(const Executable &executable, std::shared_ptr<DeviceRuntime> device);

  /// Makes the tensors of one play, in the signature's order. device_error naming the fetch for which there is no room.
  StatusOr<std::vector<Tensor>> tensors();
  /// The address at which the plan makes fetch `index` of the play for which tensors() was called last.
  std::byte *address(size_t index) const { return addresses_[index]; }
  /// Queues the copies from fixed addresses to the tensors that tensors() made last. Call it once the plan's steps are
  /// queued.
  void copyOut(DeviceQueue &queue);

private:
  /// Fetches that leave with one copy, and share the memory of their tensors.
  struct Run {
    int64_t offset = 0, bytes = 0; // in `fixed_`
    DeviceMemory to = {};          // of the tensors, between tensors() and copyOut()
  };
  struct Place {
    int64_t run = -1, offset = 0; // -1: none; the offset in the run
  };
  FetchPlaces(const Executable &executable, std::shared_ptr<DeviceRuntime> device);
  void place(size_t index, int64_t run);
  StatusOr<Tensor> tensor(size_t index);

  const Executable *executable_;
  std::shared_ptr<DeviceRuntime> device_;
  DeviceMemory fixed_;
  std::vector<Run> runs_;
  std::vector<Place> places_; // of the fetches
  std::vector<std::byte *> addresses_;
};

} // namespace halftone
