// The per-thread stack of scopes that record optimizers.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/UpdaterScope.h"
#include "frontend/graph/Trace.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include <algorithm>
#include <utility>

namespace halftone::detail {

static thread_local UpdaterScope *innermostUpdaters = nullptr;

UpdaterScope::UpdaterScope() : outer_(std::exchange(innermostUpdaters, this)), trace_(Trace::current()) {}
UpdaterScope::~UpdaterScope() { innermostUpdaters = outer_; }

void UpdaterScope::note(const Optimizer &optimizer) {
  UpdaterScope *const scope = innermostUpdaters;
  if (!scope || scope->trace_ != Trace::current())
    return;
  const auto isSame = [&](const Optimizer &each) { return each.impl() == optimizer.impl(); };
  if (std::ranges::none_of(scope->optimizers_, isSame))
    scope->optimizers_.push_back(optimizer);
}

} // namespace halftone::detail
