// The interface to the processes of a run: ranks and point-to-point messages.
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
  /// Sends and receives messages, and returns when all are done. Messages between two ranks arrive in order. The first
  /// message of an exchange is its `label`, which describes what this process does; its first labelBytes - 1 bytes are
  /// significant. runtime_error that names the other rank if it has left the run or sends a message of another size or
  /// a different label; in the latter case with both labels. Call it from one thread at a time.
  virtual Status exchange(std::string_view label, std::span<const Outgoing> sends,
                          std::span<const Incoming> receives) = 0;
  /// Tells whether a thread of this process is blocked on exchanges. If so, an exchange need not sleep to leave the
  /// processor to that thread. Safe to call while another thread exchanges; a communicator may ignore it.
  virtual void setAwaited(bool /*isAwaited*/) {}
};

/// Opens a library with the interface of CommunicatorAbi.h, at `path`, and joins its run. runtime_error if the library
/// cannot be opened or cannot join the run.
StatusOr<std::unique_ptr<Communicator>> openCommunicator(const std::string &path);

} // namespace halftone
