// Queues work of another library that uses the driver.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/driver/StreamWork.h"
#include "tests/emulator/driver/Driver.h"

using namespace halftone::emulator;

static MemoryDoor doorOf(Context &context) {
  return {[&context](void *to, uint64_t from, uint64_t bytes) { context.memory.read(to, from, bytes); },
          [&context](uint64_t to, const void *from, uint64_t bytes) { context.memory.write(to, from, bytes); },
          [](const char *text) { throw Fault(FaultKind::LaunchFailed, text); }};
}

HALFTONE_EMULATED int halftoneEmulatorQueue(void *stream, StreamWork work) {
  return withContext([&](Context &context) {
    Stream *queue = context.streamOf(stream);
    expect(queue != nullptr); // the null stream runs at once, and this work may have to wait
    context.streams.addWhenReady(
        queue, [&context, run = std::move(work.run)] { run(doorOf(context)); }, std::move(work.isReady));
  });
}

HALFTONE_EMULATED int halftoneEmulatorRunOne() {
  return withContext([](Context &context) { context.streams.runOne(); });
}
