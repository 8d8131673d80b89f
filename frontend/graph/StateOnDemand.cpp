// Counts the transactions that use uncommitted state.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/StateOnDemand.h"
#include "frontend/graph/CallTransaction.h"
#include "runtime/base/ForkGate.h"
#include <memory>
#include <utility>

namespace halftone::detail {

/// A use by one transaction, which ends with the transaction's log.
struct StateOnDemand::Use {
  Use(StateOnDemand &state, std::function<void()> forget) : state(state), forget(std::move(forget)) { ++state.uses_; }
  Use(const Use &) = delete;
  ~Use() {
    const ForkSafeLock lock(state.mutex_);
    --state.uses_;
    if (!isUndone)
      state.isCommitted_ = true;
    if (state.isCommitted_ || state.uses_ > 0)
      return;
    state.isMade_ = false;
    forget();
  }
  StateOnDemand &state;
  std::function<void()> forget;
  bool isUndone = false;
};

void StateOnDemand::require(const std::function<void()> &make, std::function<void()> forget) {
  if (isCommitted_)
    return;
  const ForkSafeLock lock(mutex_);
  if (isCommitted_)
    return;
  if (!isMade_) {
    make();
    isMade_ = true;
  }
  const auto use = std::make_shared<Use>(*this, std::move(forget));
  CallTransaction::onFailure([use] { use->isUndone = true; });
}

} // namespace halftone::detail
