// The door of the emulated driver to a library beside it, as NCCL stands beside a GPU's: work of its own in a stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>

namespace halftone::emulator {

/// Functions of the device's memory for work that runs. Each ends the context with a fault if the access is wrong.
struct MemoryDoor {
  std::function<void(void *to, uint64_t from, uint64_t bytes)> read;
  std::function<void(uint64_t to, const void *from, uint64_t bytes)> write;
  std::function<void(const char *text)> fail; ///< ends the context with a fault of that text
};

/// Runs in its turn of the stream, once it is ready. The driver asks again and again, and lets other threads call meanwhile.
struct StreamWork {
  std::function<bool()> isReady;
  std::function<void(const MemoryDoor &)> run;
};

} // namespace halftone::emulator

extern "C" {
/// Queues work on a stream of the current context; returns a CUresult.
__attribute__((visibility("default"))) int halftoneEmulatorQueue(void *stream, halftone::emulator::StreamWork work);
/// Runs one piece of queued work of the current context, of whatever stream; returns a CUresult.
__attribute__((visibility("default"))) int halftoneEmulatorRunOne();
}
