// Host work before each play of a plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/VariableStore.h"
#include "runtime/base/Status.h"
#include <functional>
#include <vector>

namespace halftone {

/// Values that the host computes for each play from variables that plays change, such as the next learning rate from
/// the step count. The host computes them without holding a lock, since the computation may run user code. It stores
/// them under the play's lock if no other play has changed their source in between. So each play gets the values of its
/// own step, whatever other threads play.
struct BeforePlay {
  /// Stores the values. Returns false, and changes nothing, if their source has changed since they were computed. The
  /// play may still fail or start over afterwards.
  using Begin = std::function<StatusOr<bool>()>;
  std::vector<VariableHandle> variables; // that Begin reads or writes, under their locks
  std::function<Begin()> prepare;        // computes the values
};

/// Calls prepare() of each element. The caller holds no lock.
inline std::vector<BeforePlay::Begin> prepareAll(const std::vector<BeforePlay> &all) {
  std::vector<BeforePlay::Begin> begins;
  begins.reserve(all.size());
  for (const BeforePlay &each : all)
    begins.push_back(each.prepare());
  return begins;
}

/// Calls each function under the locks of all variables. Stops and returns false at the first one that returns false;
/// the caller then releases the locks and prepares again.
inline StatusOr<bool> beginAll(const std::vector<BeforePlay::Begin> &begins) {
  for (const BeforePlay::Begin &begin : begins)
    if (StatusOr<bool> begun = begin(); !begun.isOk() || !*begun)
      return begun;
  return true;
}

} // namespace halftone
