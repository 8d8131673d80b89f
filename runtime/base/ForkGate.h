// The gate that keeps fork() safe while other threads are inside the library.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <mutex>

namespace halftone {

/// Held by a thread while it has one of the library's locks, or is inside LLVM. fork() waits until no other thread
/// holds one, so that a child finds every lock open. May be held several times over.
class ForkGate {
public:
  ForkGate();
  ~ForkGate();
  ForkGate(const ForkGate &) = delete;
  ForkGate &operator=(const ForkGate &) = delete;
};

/// How many forks lie between this process and the one that loaded the library. Threads that were started at another
/// count are not in this process.
int64_t forkCount();

/// A lock that no other thread's fork() catches while it is held.
template <class Mutex> class ForkSafeLock {
public:
  explicit ForkSafeLock(Mutex &mutex) : lock_(mutex) {}

private:
  ForkGate gate_; // before the lock, and until after it
  std::lock_guard<Mutex> lock_;
};

} // namespace halftone
