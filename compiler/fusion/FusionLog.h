// The log of the decisions of fusion rules, from which the fusion report is built.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/fusion/FusionGraph.h"
#include <string>

namespace halftone::compiler {

/// Created only if a report is requested, because building the texts takes time.
class FusionLog {
public:
  /// `rule` started a group with `op`.
  void started(mlir::Operation *op, llvm::StringRef rule);
  /// `rule` added `op` to a group, cloned it, or merged its group into another.
  void applied(mlir::Operation *op, llvm::StringRef rule);
  /// `rule` declined to decide about `op`.
  void declined(mlir::Operation *op, llvm::StringRef rule, llvm::StringRef reason);
  /// `rule` left the result of `op` in memory: a kernel stores it for others, which could have recomputed it.
  void keptStored(mlir::Operation *op, llvm::StringRef rule, llvm::StringRef reason);
  /// `rule` declined to add `op` to the kernel of `group`. Replaces an earlier reason of this rule for the pair.
  void declined(mlir::Operation *op, FusionGroupId group, llvm::StringRef rule, std::string reason);
  /// `rule` declined to merge two groups.
  void declined(FusionGroupId group, FusionGroupId other, llvm::StringRef rule, std::string reason);
  /// Group `other` was merged into `group`.
  void merged(FusionGroupId group, FusionGroupId other) { mergedInto[other] = group; }
  /// `by` replaces `op` in its group.
  void replaced(mlir::Operation *op, mlir::Operation *by);
  /// Must be called before `op` is erased.
  void erased(mlir::Operation *op) { notes.erase(op); }

  /// Resolves merges and fills in the reasons why groups of the graph are separate. Must be called once, at the end.
  void finish(const FusionGraph &graph);
  /// The lines of FusionRow for the kernel of `group`, which contains the ops of `body`. `siteOf` names other kernels.
  std::vector<std::string> linesOf(FusionGroupId group, const KernelBody &body,
                                   llvm::function_ref<std::string(FusionGroupId)> siteOf) const;

private:
  struct Separation {
    FusionGroupId group;
    llvm::StringRef rule;
    std::string reason; // with the op, if the rule considered one
  };
  struct Notes {
    llvm::SmallVector<llvm::StringRef, 2> rules;
    std::vector<std::string> reasons; // why rules declined the op, each once
    std::string stored;               // why the op is stored; empty if no rule said so
    std::vector<Separation> separations;
    bool isStart = false;
  };
  FusionGroupId resolved(FusionGroupId group);

  llvm::DenseMap<mlir::Operation *, Notes> notes;
  llvm::DenseMap<FusionGroupId, FusionGroupId> mergedInto;
  // By the group that declined; after finish(), by both.
  llvm::DenseMap<FusionGroupId, std::vector<Separation>> separations;
};

} // namespace halftone::compiler
