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

constexpr auto maxWait = std::chrono::seconds(5);

std::atomic<int> compilingThreads{0};
std::atomic<bool> isEnding{false};
thread_local int gatesHeld = 0;           // number of gates that this thread holds
thread_local bool isThreadEnding = false; // its thread_local objects are being destroyed
thread_local bool isNoticed = false;      // noticeThreadEnd() was called after MLIR created this thread's caches

// The registering functions are not inlined: tests/house/destructors.py knows them by name.

/// Runs on the thread that calls exit(), perhaps in a signal handler while the thread holds a gate.
void beginEnd() {
  isThreadEnding = true;
  isEnding = true;
  const int own = gatesHeld > 0 ? 1 : 0;
  for (int inside = compilingThreads.load(); inside > own; inside = compilingThreads.load())
    compilingThreads.wait(inside);
}

/// The main thread's thread_local objects are destroyed only by exit(), before everything else.
void threadEnds(void *) {
  isThreadEnding = true;
  if (::gettid() == ::getpid())
    beginEnd();
}

/// The last argument is any address of this library.
[[gnu::noinline]] void noticeThreadEnd() noexcept { abi::__cxa_thread_atexit(threadEnds, nullptr, &isEnding); }

/// exit() calls the functions registered last first, and LLVM's objects register theirs when they are created, at first
/// use. So this is registered again when more of them may have been created.
[[gnu::noinline]] int noticeExit() noexcept { return std::atexit(beginEnd); }

/// Initialized when the library is loaded, usually by the main thread.
[[maybe_unused]] const int isWatching = []() noexcept {
  noticeThreadEnd();
  return noticeExit();
}();

Status refusal() {
  return {
      ErrorKind::runtime_error,
      isEnding
          ? "the process is ending: after exit() has begun, nothing is traced or compiled"
          : "the thread is ending: while its thread_local objects are being destroyed, nothing is traced or compiled"};
}

/// Blocks a thread other than the exiting one until the process has ended: an error that reached the thread's function
/// would terminate the process instead.
void waitForEnd() {
  if (isThreadEnding)
    return;
  const OutsideForkGate outside;
  std::this_thread::sleep_for(maxWait);
}

/// Returns true if the thread has entered.
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
  compilingThreads.fetch_add(1); // undone when the last of the gates is released
}

WorkerCompilerGate::WorkerCompilerGate() {
  ++gatesHeld;
  compilingThreads.fetch_add(1);
}

WorkerCompilerGate::~WorkerCompilerGate() {
  --gatesHeld;
  compilingThreads.fetch_sub(1);
  compilingThreads.notify_all();
}

void noticeStaticObjects(std::atomic<uint64_t> &calls) {
  if (std::has_single_bit(calls.fetch_add(1) + 1))
    noticeExit();
}

Status processStatus() { return isEnding ? refusal() : Status(); }

bool isProcessEnding() { return isEnding.load(std::memory_order_relaxed); }

} // namespace halftone
