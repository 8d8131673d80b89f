// State that calls make when they need it, and that goes away with them if they are undone.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <functional>
#include <mutex>

namespace halftone::detail {

/// State that the first call which needs it makes, such as an optimizer's variables. Several threads may need it at the same
/// time, in transactions (CallTransaction) of which some are undone: the state stays once one of them is committed, and is
/// forgotten when all are undone. A call without a transaction commits it.
class StateOnDemand {
public:
  /// Calls `make` unless the state is there; other threads wait. If `make` throws, the state is not there. `forget` undoes
  /// it; the function must not throw, and must keep its objects alive.
  void require(const std::function<void()> &make, std::function<void()> forget);
  bool isMade() const { return isMade_; }

private:
  struct Use;
  std::recursive_mutex mutex_; // users' code may run in `make` and need the state
  std::atomic<bool> isMade_ = false, isCommitted_ = false;
  int uses_ = 0; // by transactions that have not ended
};

} // namespace halftone::detail
