// Collectives that a device runs itself, asynchronously to the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/communication/Collectives.h"
#include <span>

namespace halftone {

/// Device-side collectives. Every process makes the same calls in the same order, with arrays of the same dtypes and
/// sizes. A call queues work and returns; an error of that work may be reported by a later call, after which all later
/// calls fail.
class DeviceCollectives {
public:
  virtual ~DeviceCollectives() = default;
  /// Starts to combine arrays in the device's memory once all work queued before has completed. type_error for a dtype
  /// that the device does not combine.
  virtual Status start(CollectiveKind kind, std::span<const SharedArray> arrays) = 0;
  /// Makes work that is queued from now on wait for the oldest collective in flight.
  virtual Status wait() = 0;
};

} // namespace halftone
