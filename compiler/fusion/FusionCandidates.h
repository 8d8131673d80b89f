// An ordered list of groups that another op or group may join.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/fusion/FusionGraph.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace halftone::compiler {

/// The groups are tried in the order in which they were added. A group that rejects 32 candidates in a row is dropped,
/// so that a search stays linear in the number of groups.
class FusionCandidates {
public:
  /// Appends a group, unless it was added before.
  void add(FusionGroupId group) {
    if (known.insert(group).second)
      open.push_back({group, 0});
  }
  /// The first group that has not been dropped.
  std::optional<FusionGroupId> first() const { return open.empty() ? std::nullopt : std::optional(open.front().group); }
  /// The first group for which `joins` returns true; nullopt if there is none.
  std::optional<FusionGroupId> find(llvm::function_ref<bool(FusionGroupId)> joins);

private:
  struct Candidate {
    FusionGroupId group;
    int64_t rejections;
  };
  std::vector<Candidate> open;
  llvm::DenseSet<FusionGroupId> known;
};

} // namespace halftone::compiler
