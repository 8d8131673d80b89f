// The default of DeviceQueue::play(): a list of operations, queued one by one.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/Device.h"

namespace halftone {

void DeviceQueue::play(std::span<const QueuedOperation> operations, std::span<const size_t>) {
  for (const QueuedOperation &operation : operations)
    if (auto *parts = std::get_if<LaunchParts>(&operation))
      launch(*parts);
    else if (const QueuedCopy &copied = std::get<QueuedCopy>(operation); copied.from)
      copy(copied.to, copied.from, copied.bytes, copied.condition);
    else
      fillZero(copied.to, copied.bytes, copied.condition);
}

} // namespace halftone
