// The steps of a plan as queue operations, and the addresses in them that change.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <span>
#include <vector>

namespace halftone {

/// An address of a feed or fetch within an operation. It may differ from play to play.
struct ChangingAddress {
  size_t operation;
  SlotId slot;
  AddressField field;

  /// Writes the address into the operation. Returns true if the address changed.
  bool set(std::byte *address) const {
    return std::visit(
        [&](auto *at) {
          const bool differs = *at != address;
          *at = address;
          return differs;
        },
        field);
  }
};

/// Operations that are queued together, and the kind of step that follows them.
struct OperationSegment {
  enum class End : uint8_t { plan, collective, wait };
  size_t begin, end; // of the operations
  End then;
};

struct PlanOperations {
  std::vector<QueuedOperation> operations;        // a launch in parts is one operation
  std::vector<OperationSegment> segments;         // over the operations; the last ends with the plan
  std::vector<ChangingAddress> changing;          // feeds and fetches, in order of their operations
  std::vector<std::vector<MovingAddress>> moving; // one list per repeat

  /// Converts a plan that has passed verify(). `launches` are those of its launch steps, in order; `buffers` holds the
  /// addresses that they point to; `addresses` is indexed by slot. The operations point into `launches`, and the
  /// address places into all of these arrays.
  static PlanOperations of(const Plan &plan, std::span<Launch> launches, std::span<void *> buffers,
                           std::span<std::byte *const> addresses);
};

} // namespace halftone
