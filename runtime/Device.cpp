// Defaults of devices and queues: a list is queued one operation at a time, and there are no collectives.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/Device.h"
#include <fmt/format.h>
#include <type_traits>
#include <utility>

namespace halftone {

void QueuedRepeat::move(int64_t from, int64_t to) const {
  for (const MovingAddress &address : moving)
    if (const int64_t bytes = address.stride.at(to) - address.stride.at(from); bytes != 0)
      std::visit(
          [&](auto *field) {
            using Pointer = std::remove_cvref_t<decltype(*field)>;
            // Device addresses may not be host memory, so pointer arithmetic on them is undefined.
            *field = reinterpret_cast<Pointer>( // NOLINT(performance-no-int-to-ptr)
                reinterpret_cast<uintptr_t>(*field) + static_cast<uintptr_t>(bytes));
          },
          address.field);
}

void DeviceQueue::play(std::span<const QueuedOperation> operations, std::span<const size_t>) { playEach(operations); }

void DeviceQueue::playEach(std::span<const QueuedOperation> operations) {
  for (size_t i = 0; i < operations.size(); ++i) {
    if (auto *parts = std::get_if<LaunchParts>(&operations[i])) {
      launch(*parts);
    } else if (auto *copied = std::get_if<QueuedCopy>(&operations[i])) {
      if (copied->from)
        copy(copied->to, copied->from, copied->bytes, copied->condition);
      else
        fillZero(copied->to, copied->bytes, copied->condition);
    } else {
      const QueuedRepeat &repeat = std::get<QueuedRepeat>(operations[i]);
      const auto body = operations.subspan(i + 1, repeat.operations);
      int64_t last = 0;
      for (int64_t iteration = 0; iteration < repeat.count && holds(repeat.condition); ++iteration) {
        repeat.move(std::exchange(last, iteration), iteration);
        playEach(body);
      }
      repeat.move(last, 0);
      i += repeat.operations;
    }
  }
}

StatusOr<std::shared_ptr<DeviceCollectives>> DeviceRuntime::join(std::shared_ptr<ProcessGroup>) {
  return Status(ErrorKind::not_implemented_error,
                fmt::format("{} does not support collectives with other processes", name()));
}

} // namespace halftone
