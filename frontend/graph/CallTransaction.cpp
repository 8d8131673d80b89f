// The stack of open transactions of each thread.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Trace.h"
#include "frontend/graph/Variables.h"
#include <iterator>
#include <ranges>
#include <utility>

namespace halftone::detail {

static thread_local CallTransaction *innermostTransaction = nullptr;

CallTransaction::CallTransaction(Extent extent)
    : outer_(std::exchange(innermostTransaction, this)),
      isPart_(outer_ && !(extent == Extent::program && Trace::current())) {}

CallTransaction::~CallTransaction() {
  innermostTransaction = outer_;
  if (undo_.empty())
    return;
  for (const std::function<void()> &undo : std::views::reverse(undo_))
    undo();
  bumpConfigurationEpoch();
}

void CallTransaction::commit() {
  if (isPart_)
    outer_->undo_.insert(outer_->undo_.end(), std::make_move_iterator(undo_.begin()),
                         std::make_move_iterator(undo_.end()));
  undo_.clear();
}

void CallTransaction::onFailure(std::function<void()> undo) {
  if (innermostTransaction)
    innermostTransaction->undo_.push_back(std::move(undo));
}

bool CallTransaction::isOpen() { return innermostTransaction != nullptr; }

} // namespace halftone::detail
