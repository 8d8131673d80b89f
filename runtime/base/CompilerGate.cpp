// Counts the threads inside the compiler, and handles exit().
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/CompilerGate.h"
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cxxabi.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace halftone {
namespace {

constexpr auto mostWait = std::chrono::seconds(5);

std::atomic<int> compilingThreads{0};
std::atomic<bool> isEnding{false};
thread_local int gatesHeld = 0;           // how many gates this thread holds
thread_local bool isThreadEnding = false; // its thread_local objects are being destroyed
thread_local bool isNoticed = false;      // noticeThreadEnd() was called after MLIR had made its caches of this thread

// The functions that register are not inlined: tests/house/destructors.py knows them by name.

/// On the thread that calls exit(), perhaps in the code of a signal that came while it held a gate.
void beginEnd() {
  isThreadEnding = true;
  isEnding = true;
  const int own = gatesHeld > 0 ? 1 : 0;
  for (int inside = compilingThreads.load(); inside > own; inside = compilingThreads.load())
    compilingThreads.wait(inside);
}

/// Of the main thread, only exit() destroys the thread_local objects, which it does before all else.
void threadEnds(void *) {
  isThreadEnding = true;
  if (::gettid() == ::getpid())
    beginEnd();
}

/// The last argument is any address of this library.
[[gnu::noinline]] void noticeThreadEnd() noexcept { abi::__cxa_thread_atexit(threadEnds, nullptr, &isEnding); }

/// exit() calls the functions that were registered last first, and LLVM's objects register theirs when they are made, at
/// first use. So this is registered again when more of them may have been made.
[[gnu::noinline]] int noticeExit() noexcept { return std::atexit(beginEnd); }

/// When the library is loaded, by the main thread as a rule.
[[maybe_unused]] const int isWatching = []() noexcept {
  noticeThreadEnd();
  return noticeExit();
}();

Status refusal() {
  return {ErrorKind::runtime_error, isEnding
                                        ? "the process is ending: after exit() has begun, nothing is traced or compiled"
                                        : "the thread is ending: its thread_local objects are being destroyed, after "
                                          "which it traces and compiles nothing"};
}

/// Blocks a thread that is not the one that ends, so that the end of the process overtakes it: an error that reached the
/// thread's function would terminate the process instead.
void waitForEnd() {
  if (isThreadEnding)
    return;
  const OutsideForkGate outside;
  std::this_thread::sleep_for(mostWait);
}

/// Whether the thread is inside.
bool enterCompiler() {
  if (isThreadEnding)
    return false;
  compilingThreads.fetch_add(1);
  if (!isEnding)
    return true;
  compilingThreads.fetch_sub(1);
  compilingThreads.notify_all();
  return false;
}

void leaveCompiler() {
  if (!isNoticed) {
    isNoticed = true;
    noticeThreadEnd();
  }
  compilingThreads.fetch_sub(1);
  if (!isEnding)
    return;
  compilingThreads.notify_all();
  waitForEnd();
}

} // namespace

CompilerGate::CompilerGate() {
  if (gatesHeld > 0 || enterCompiler()) {
    ++gatesHeld;
    return;
  }
  waitForEnd();
  status_ = refusal();
}

CompilerGate::~CompilerGate() {
  if (status_.isOk() && --gatesHeld == 0)
    leaveCompiler();
}

OutsideCompilerGate::OutsideCompilerGate() : gates_(std::exchange(gatesHeld, 0)) {
  if (gates_ > 0)
    leaveCompiler();
}

OutsideCompilerGate::~OutsideCompilerGate() {
  gatesHeld = gates_;
  if (gates_ == 0 || enterCompiler())
    return;
  waitForEnd();
  compilingThreads.fetch_add(1); // which the last of the gates takes back
}

void noticeStaticObjects(std::atomic<uint64_t> &calls) {
  if (std::has_single_bit(calls.fetch_add(1) + 1))
    noticeExit();
}

Status processStatus() { return isEnding ? refusal() : Status(); }

bool isProcessEnding() { return isEnding.load(std::memory_order_relaxed); }

} // namespace halftone
