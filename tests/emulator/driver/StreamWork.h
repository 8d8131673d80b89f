// The interface of the emulated driver for another library, such as NCCL, that queues its own work in a stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>

namespace halftone::emulator {

/// Device memory functions for running work. Each stops the context with a fault if the access is invalid.
struct MemoryDoor {
  std::function<void(void *to, uint64_t from, uint64_t bytes)> read;
  std::function<void(uint64_t to, const void *from, uint64_t bytes)> write;
  std::function<void(const char *text)> fail; ///< stops the context with a fault with this text
};

/// Runs in stream order, once it is ready. The driver polls, and lets other threads make calls meanwhile.
struct StreamWork {
  std::function<bool()> isReady;
  std::function<void(const MemoryDoor &)> run;
};

} // namespace halftone::emulator

extern "C" {
/// Queues work on a stream of the current context. Returns a CUresult.
__attribute__((visibility("default"))) int halftoneEmulatorQueue(void *stream, halftone::emulator::StreamWork work);
/// Runs one piece of queued work of the current context, in any stream. Returns a CUresult.
__attribute__((visibility("default"))) int halftoneEmulatorRunOne();
}
