// Lazily created state that is discarded with the calls that created it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <functional>
#include <mutex>

namespace halftone::detail {

/// State created by the first call that needs it, such as an optimizer's variables. Several threads may need it
/// concurrently in transactions (CallTransaction), some of which are undone: the state persists once one of them
/// commits, and is discarded when all are undone. A call without a transaction commits it.
class StateOnDemand {
public:
  /// Calls `make` unless the state exists; other threads wait. If `make` throws, the state does not exist. `forget`
  /// undoes `make`; it must not throw, and must keep its objects alive.
  void require(const std::function<void()> &make, std::function<void()> forget);
  bool isMade() const { return isMade_; }

private:
  struct Use;
  std::recursive_mutex mutex_; // user code may run in `make` and need the state
  std::atomic<bool> isMade_ = false, isCommitted_ = false;
  int uses_ = 0; // by open transactions
};

} // namespace halftone::detail
