// The C ABI of message-passing libraries, such as libhalftone-mpi.so.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

extern "C" {

/// A message to or from `rank`. The data of an outgoing message is not modified.
struct HalftoneMessage {
  int32_t rank;
  void *data;
  int64_t bytes;
};

/// The library's view of the processes of a run.
struct HalftoneCommunicator {
  int32_t rank, size;
  /// Sends and receives messages and returns 0 when all are done. Messages between two ranks arrive in order, and begin
  /// with the label: labelBytes bytes, a null-terminated text. If a message fails, or if a different label arrives,
  /// writes a null-terminated text to `error` and returns 1. Calls come from one thread at a time.
  int32_t (*exchange)(const char *label, const HalftoneMessage *sends, int64_t sendCount,
                      const HalftoneMessage *receives, int64_t receiveCount, char *error, int64_t errorBytes);
  /// Tells whether a thread of this process is blocked on exchanges: 1 if so, 0 if not. Never null, but it may do
  /// nothing. Calls come from any thread.
  void (*setAwaited)(int32_t isAwaited);
};

/// The type of the library's function halftone_open_communicator. It joins the run at the first call and leaves when
/// the process ends. Returns null, with a text in `error`, on failure or if the library has another `abi`.
using HalftoneOpenCommunicator = const HalftoneCommunicator *(*)(int32_t abi, char *error, int64_t errorBytes);
}

namespace halftone {
inline constexpr int32_t communicatorAbi = 3; // incremented with each change of the declarations above
inline constexpr int64_t labelBytes = 224;
inline constexpr const char *openCommunicatorName = "halftone_open_communicator";
} // namespace halftone
