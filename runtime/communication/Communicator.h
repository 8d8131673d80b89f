// The interface to the processes of a run: ranks, and messages between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace halftone {

struct Outgoing {
  int rank = 0; // of the receiver
  std::span<const std::byte> bytes;
};
struct Incoming {
  int rank = 0; // of the sender
  std::span<std::byte> bytes;
};

class Communicator {
public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0; // of this process: 0 to size() - 1
  virtual int size() const = 0;
  /// Sends and receives messages, and returns when all are done. Messages between two ranks arrive in their order, and the
  /// first of an exchange is its `label`, of which labelBytes - 1 bytes count: the words for what this process does.
  /// runtime_error that names the other rank if it has left the run; if it sends another label, with both labels; or if it
  /// sends a message of another size. Call it from one thread at a time.
  virtual Status exchange(std::string_view label, std::span<const Outgoing> sends,
                          std::span<const Incoming> receives) = 0;
  /// Says whether a thread of this process has nothing to do but wait for exchanges. Then an exchange need not sleep to
  /// leave the processor to that thread. Safe to call while another thread exchanges; a communicator may ignore it.
  virtual void setAwaited(bool /*isAwaited*/) {}
};

/// The processes that a library with the interface of CommunicatorAbi.h joins. `path` is the library's file. runtime_error
/// when the library cannot be opened, or cannot join the run.
StatusOr<std::unique_ptr<Communicator>> openCommunicator(const std::string &path);

} // namespace halftone
