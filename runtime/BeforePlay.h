// The work that the host does for each play of a plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/VariableStore.h"
#include "runtime/base/Status.h"
#include <functional>
#include <vector>

namespace halftone {

/// Values that the host computes for each play, from variables that plays change: the next learning rate from the count of
/// steps. The host computes them while it holds no lock, since users' code may run then; it puts them in place within the
/// lock of the play, if no other play has changed their source in between. So each play gets the values of its own step,
/// whatever other threads play.
struct BeforePlay {
  /// Puts the values in place. False, and nothing has changed, if their source has changed since they were computed.
  /// The play may still fail or begin anew afterwards.
  using Begin = std::function<StatusOr<bool>()>;
  std::vector<VariableHandle> variables; // that Begin reads or writes, under their locks
  std::function<Begin()> prepare;        // computes the values
};

/// Calls prepare() of each, while the caller holds no lock.
inline std::vector<BeforePlay::Begin> prepareAll(const std::vector<BeforePlay> &all) {
  std::vector<BeforePlay::Begin> begins;
  begins.reserve(all.size());
  for (const BeforePlay &each : all)
    begins.push_back(each.prepare());
  return begins;
}

/// Calls each function, under the locks of all variables. False at the first that gives false: the caller gives up the
/// locks and prepares again.
inline StatusOr<bool> beginAll(const std::vector<BeforePlay::Begin> &begins) {
  for (const BeforePlay::Begin &begin : begins)
    if (StatusOr<bool> begun = begin(); !begun.isOk() || !*begun)
      return begun;
  return true;
}

} // namespace halftone
