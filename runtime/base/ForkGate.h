// The gate that keeps fork() safe while other threads are inside the library.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <mutex>

namespace halftone {

/// A scope in which the thread holds a lock of the library or is inside LLVM (CompilerGate.h). fork() waits until no
/// other thread holds a gate, so that a child process finds every lock released. A thread may hold several. A thread
/// that calls fork() is running user code and so holds no lock; other forks do not wait for its gates.
class ForkGate {
public:
  ForkGate();
  ~ForkGate();
  ForkGate(const ForkGate &) = delete;
  ForkGate &operator=(const ForkGate &) = delete;
};

/// A scope in which the thread runs user code inside the library. Its gates then do not delay a fork, so the user code
/// may fork, or wait for a thread that does. The thread holds no lock of the library meanwhile.
class OutsideForkGate {
public:
  OutsideForkGate();
  ~OutsideForkGate();
  OutsideForkGate(const OutsideForkGate &) = delete;
  OutsideForkGate &operator=(const OutsideForkGate &) = delete;

private:
  int gates_; // number of gates that the thread held
};

/// The number of forks between this process and the process that loaded the library. A thread that was started at
/// another count does not exist in this process.
int64_t forkCount();

/// A lock guard for a mutex of the library: while a thread holds it, another thread's fork() waits.
template <class Mutex> class ForkSafeLock {
public:
  explicit ForkSafeLock(Mutex &mutex) : lock_(mutex) {}

private:
  ForkGate gate_; // acquired before the lock, released after it
  std::lock_guard<Mutex> lock_;
};

} // namespace halftone
