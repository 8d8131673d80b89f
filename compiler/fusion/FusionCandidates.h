// Groups that are asked in turn whether another op or group joins them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/fusion/FusionGraph.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace halftone::compiler {

/// A group that rejects 32 candidates in a row is dropped, so a search stays linear in the number of groups.
class FusionCandidates {
public:
  /// Appends a group, unless it was added before.
  void add(FusionGroupId group) {
    if (known.insert(group).second)
      open.push_back({group, 0});
  }
  /// The group that was added first, of those that are not dropped.
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
