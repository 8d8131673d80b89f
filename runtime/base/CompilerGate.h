// The gate that keeps exit() safe while other threads are inside LLVM and MLIR.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/ForkGate.h"
#include "runtime/base/Status.h"
#include <atomic>
#include <cstdint>

namespace halftone {

/// A scope in which the thread is inside LLVM or MLIR and runs no user code. exit() destroys static objects of these
/// libraries and the caches of the exiting thread. So process exit begins by waiting until no other thread holds a
/// gate. A gate requested afterwards is refused with a runtime_error: at once on the thread that called exit(), and
/// after a few seconds on any other thread, by which time the process has usually ended. A thread that releases its
/// gate during process exit waits as long, since an uncaught error in it would terminate the process first. A gate is
/// also refused, at once, on a thread that is running the destructors of its thread_local objects.
///     const CompilerGate gate;
///     HALFTONE_RETURN_IF_ERROR(gate.status());
class CompilerGate {
public:
  CompilerGate();
  ~CompilerGate();
  CompilerGate(const CompilerGate &) = delete;
  CompilerGate &operator=(const CompilerGate &) = delete;
  /// ok if the gate is held.
  const Status &status() const { return status_; }

private:
  ForkGate fork_; // LLVM has its own locks; held as long as this gate is
  Status status_;
};

/// A scope in which the thread runs user code in the middle of a compile. For exit() and fork(), the thread then counts
/// as outside of all gates that it holds. Other threads of the compile hold their own gates meanwhile.
class OutsideCompilerGate {
public:
  OutsideCompilerGate();
  /// If exit() has begun meanwhile, processStatus() afterwards returns an error, and the thread must not enter LLVM.
  ~OutsideCompilerGate();
  OutsideCompilerGate(const OutsideCompilerGate &) = delete;
  OutsideCompilerGate &operator=(const OutsideCompilerGate &) = delete;

private:
  int gates_; // number of gates that the thread held
  OutsideForkGate fork_;
};

/// The gate of a worker thread whose caller holds a gate and waits for the worker. It is never refused, so that the work
/// is done even if exit() begins meanwhile; exit() waits for it.
class WorkerCompilerGate {
public:
  WorkerCompilerGate();
  ~WorkerCompilerGate();
  WorkerCompilerGate(const WorkerCompilerGate &) = delete;
  WorkerCompilerGate &operator=(const WorkerCompilerGate &) = delete;

private:
  ForkGate fork_;
};

/// Reports that LLVM may just have created static objects. exit() would destroy them before it waits, since it calls
/// the functions registered last first. So the wait is registered again: at the first calls from a call site and then
/// at exponentially growing intervals. `calls` counts the calls from that site.
void noticeStaticObjects(std::atomic<uint64_t> &calls);

/// ok, or the runtime_error with which gates are refused after exit() has begun.
Status processStatus();

/// Returns true if exit() has begun, after which gates are refused on all threads.
bool isProcessEnding();

} // namespace halftone
