// The C interface of libraries that send messages between processes: libhalftone-mpi.so is one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

extern "C" {

/// A message to or from `rank`. The bytes of a message to send are not written.
struct HalftoneMessage {
  int32_t rank;
  void *data;
  int64_t bytes;
};

/// The processes of a run as the library sees them.
struct HalftoneCommunicator {
  int32_t rank, size;
  /// Sends and receives messages and returns 0 when all are done. Messages between two ranks arrive in their order, and
  /// begin with the label: labelBytes bytes, a text that ends with 0. If a message fails, or if a label that arrives is
  /// another one, writes a text that ends with 0 to `error` and returns 1. Calls come from one thread at a time.
  int32_t (*exchange)(const char *label, const HalftoneMessage *sends, int64_t sendCount,
                      const HalftoneMessage *receives, int64_t receiveCount, char *error, int64_t errorBytes);
  /// Says by 1 that a thread of this process has nothing to do but wait for exchanges, by 0 that none has. Never null, but
  /// it may do nothing. Calls come from any thread.
  void (*setAwaited)(int32_t isAwaited);
};

/// The type of the library's function halftone_open_communicator. It joins the run at the first call, and leaves when the
/// process ends. Null, with a text as above, if that fails or if the library has another `abi`.
using HalftoneOpenCommunicator = const HalftoneCommunicator *(*)(int32_t abi, char *error, int64_t errorBytes);
}

namespace halftone {
inline constexpr int32_t communicatorAbi = 3; // grows with each change of the declarations above
inline constexpr int64_t labelBytes = 224;
inline constexpr const char *openCommunicatorName = "halftone_open_communicator";
} // namespace halftone
