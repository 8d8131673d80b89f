// Compares the stack pointer with the bounds of the thread's stack.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/StackRoom.h"
#include "halftone/Error.h"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <pthread.h>

namespace halftone {

namespace {

constexpr size_t maxUsed = size_t(8) << 20;   // bytes of a stack
constexpr size_t maxKept = size_t(512) << 10; // bytes reserved for the error and for calls that do not recurse

struct Stack {
  uintptr_t lowest = 0, limit = 0; // the lowest address of the stack, and the lowest allowed for a frame
  size_t used = 0;                 // bytes that may be used
};

Stack stackOfThread() {
  Stack stack;
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
    return stack;
  void *lowest = nullptr;
  size_t size = 0;
  if (::pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
    stack.lowest = reinterpret_cast<uintptr_t>(lowest);
    stack.used = std::min(size, maxUsed);
    stack.limit = stack.lowest + size - stack.used + std::min(stack.used / 4, maxKept);
  }
  ::pthread_attr_destroy(&attributes);
  return stack;
}

} // namespace

void requireStack(const char *what) {
  thread_local const Stack stack = stackOfThread();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (here >= stack.limit || here < stack.lowest) [[likely]] // lower: on a coroutine's stack
    return;
  throw Error(ErrorKind::value_error,
              fmt::format("{}: nested too deeply for the stack of this thread, of which {} KiB are available", what,
                          stack.used >> 10));
}

} // namespace halftone
