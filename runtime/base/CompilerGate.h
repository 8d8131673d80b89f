// The gate that keeps exit() safe while other threads are inside LLVM and MLIR.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/ForkGate.h"
#include "runtime/base/Status.h"
#include <atomic>
#include <cstdint>

namespace halftone {

/// A thread holds one while it is inside LLVM or MLIR, and runs no code of users meanwhile. exit() destroys static objects
/// of these libraries and the caches that they keep for the thread that ends. So the end of the process begins with a wait
/// until no other thread holds a gate. A gate that is asked for afterwards is refused with a runtime_error: at once on the
/// thread that called exit(), and after a few seconds on any other thread, which the end of the process overtakes as a rule.
/// A thread that releases its gate during the end of the process waits as long: an uncaught error of it would terminate the
/// process first.
/// The same holds for a thread that runs the destructors of its thread_local objects.
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
  ForkGate fork_; // LLVM has its own locks; held as long as this gate
  Status status_;
};

/// A thread holds one while it runs users' code in the middle of a compile: it counts as outside of all the gates that it
/// holds, for exit() and for fork(). Other threads of the compile hold gates of their own meanwhile.
class OutsideCompilerGate {
public:
  OutsideCompilerGate();
  /// If exit() has begun meanwhile, processStatus() tells so afterwards, and the thread must not enter LLVM.
  ~OutsideCompilerGate();
  OutsideCompilerGate(const OutsideCompilerGate &) = delete;
  OutsideCompilerGate &operator=(const OutsideCompilerGate &) = delete;

private:
  int gates_; // that the thread held
  OutsideForkGate fork_;
};

/// Tells that LLVM may just have made static objects, which exit() would destroy before it waits: it calls the functions that
/// were registered last first. So the wait is registered again, at the first calls of a place and ever more seldom; `calls`
/// counts those of the place.
void noticeStaticObjects(std::atomic<uint64_t> &calls);

/// ok, or the runtime_error with which gates are refused once exit() has begun.
Status processStatus();

/// Whether exit() has begun, by which gates are refused on all threads.
bool isProcessEnding();

} // namespace halftone
