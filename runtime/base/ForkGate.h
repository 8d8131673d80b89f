// The gate that keeps fork() safe while other threads are inside the library.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <mutex>

namespace halftone {

/// A thread holds one while it has one of the library's locks or is inside LLVM (CompilerGate.h). fork() waits until no
/// other thread holds one, so that a child finds every lock open. A thread may hold several. A thread that forks runs
/// users' code, so it holds no lock, and other forks do not wait for its gates.
class ForkGate {
public:
  ForkGate();
  ~ForkGate();
  ForkGate(const ForkGate &) = delete;
  ForkGate &operator=(const ForkGate &) = delete;
};

/// A thread holds one while it runs users' code inside the library: the gates that it holds do not make a fork wait, so
/// that the code may fork, or wait for a thread that does. The thread holds no lock of the library meanwhile.
class OutsideForkGate {
public:
  OutsideForkGate();
  ~OutsideForkGate();
  OutsideForkGate(const OutsideForkGate &) = delete;
  OutsideForkGate &operator=(const OutsideForkGate &) = delete;

private:
  int gates_; // that the thread held
};

/// How many forks lie between this process and the process that loaded the library. A thread that was started at
/// another count does not exist in this process.
int64_t forkCount();

/// A lock for a mutex of the library: while a thread holds it, another thread's fork() waits.
template <class Mutex> class ForkSafeLock {
public:
  explicit ForkSafeLock(Mutex &mutex) : lock_(mutex) {}

private:
  ForkGate gate_; // taken before the lock, released after it
  std::lock_guard<Mutex> lock_;
};

} // namespace halftone
