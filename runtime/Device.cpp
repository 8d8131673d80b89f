// Defaults of devices and queues: a list of operations is queued one by one, and no device combines values by itself.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/Device.h"
#include <fmt/format.h>

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

StatusOr<std::shared_ptr<DeviceCollectives>> DeviceRuntime::join(std::shared_ptr<ProcessGroup>) {
  return Status(ErrorKind::not_implemented_error,
                fmt::format("{} does not combine its values with those of other processes", name()));
}

} // namespace halftone
