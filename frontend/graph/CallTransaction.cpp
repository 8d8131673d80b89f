// The stack of open transactions of each thread.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Trace.h"
#include "frontend/graph/Variables.h"
#include <utility>

namespace halftone::detail {

static thread_local CallTransaction *innermostTransaction = nullptr;

static bool isPart(const CallTransaction *outer, CallTransaction::Extent extent) {
  return outer && !(extent == CallTransaction::Extent::program && Trace::current());
}

CallTransaction::CallTransaction(Extent extent)
    : outer_(std::exchange(innermostTransaction, this)), log_(isPart(outer_, extent) ? outer_->log_ : own_),
      begin_(log_.size()) {}

CallTransaction::~CallTransaction() {
  innermostTransaction = outer_;
  if (log_.size() == begin_)
    return;
  while (log_.size() > begin_) {
    const std::function<void()> undo = std::move(log_.back());
    log_.pop_back();
    undo();
  }
  bumpConfigurationEpoch();
}

void CallTransaction::commit() {
  own_.clear();
  begin_ = log_.size();
}

void CallTransaction::onFailure(std::function<void()> undo) {
  if (innermostTransaction)
    innermostTransaction->log_.push_back(std::move(undo));
}

bool CallTransaction::isOpen() { return innermostTransaction != nullptr; }

} // namespace halftone::detail
