// Collectives that a device runs by itself, among its other work: the host waits for none of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/communication/Collectives.h"
#include <span>

namespace halftone {

/// Every process makes the same calls in the same order, with arrays of the same dtypes and sizes. A call queues work and
/// returns; an error of that work may come with a later call, and then all later calls fail.
class DeviceCollectives {
public:
  virtual ~DeviceCollectives() = default;
  /// Begins to combine arrays in the device's memory, once the work queued before has run. type_error for a dtype that the
  /// device does not combine.
  virtual Status start(CollectiveKind kind, std::span<const SharedArray> arrays) = 0;
  /// Work that is queued from here on runs behind the oldest collective that travels.
  virtual Status wait() = 0;
};

} // namespace halftone
