// The steps of a plan as operations of a queue, and the addresses in them that change.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <span>
#include <vector>

namespace halftone {

/// The address of a feed or a fetch in an operation. It may differ from play to play.
struct ChangingAddress {
  size_t operation;
  SlotId slot;
  AddressPlace place;

  /// Writes the address into the operation. True if the operation held another address before.
  bool set(std::byte *address) const {
    return std::visit(
        [&](auto *at) {
          const bool differs = *at != address;
          *at = address;
          return differs;
        },
        place);
  }
};

/// Operations that are queued together, and the step behind them.
struct Leg {
  enum class End : uint8_t { plan, collective, wait };
  size_t begin, end; // of the operations
  End then;
};

struct PlanOperations {
  std::vector<QueuedOperation> operations;        // launches in parts are one operation
  std::vector<Leg> legs;                          // of the operations; the last ends with the plan
  std::vector<ChangingAddress> changing;          // from play to play, in order of their operations
  std::vector<std::vector<MovingAddress>> moving; // of each repeat

  /// The plan has passed verify(). `launches` are those of its launch steps, in order, and `buffers` the addresses that
  /// they point to; `addresses` are by slot. The operations point into `launches`, and the places into all arrays.
  static PlanOperations of(const Plan &plan, std::span<Launch> launches, std::span<void *> buffers,
                           std::span<std::byte *const> addresses);
};

} // namespace halftone
