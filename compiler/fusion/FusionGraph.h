// The fusion groups of a block and the order in which their kernels can run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/fusion/ClonedProducers.h"
#include <optional>
#include <vector>

namespace halftone::compiler {

/// The index of a group in its graph. Ids of groups that were merged into others are not reused.
using FusionGroupId = size_t;

/// Ops that become one kernel, or one opaque op, which is not changed.
struct FusionGroup {
  llvm::SmallVector<mlir::Operation *> ops; // empty after a merge into another group
  int64_t last = 0;                         // increases with each op that joins a group of the graph
  bool opaque = false;                      // a branch, loop, `reshape`, `hold`, `constant` or collective
  KernelShape shape;                        // unset for an opaque op

  bool isKernel() const { return !opaque && !ops.empty(); }
};

/// A dependency graph of groups, over a block and its cloned producers: dependencies between ops are looked up through
/// cloned producers. Groups are kept in an order in which each follows those that it depends on. The graph never edits
/// IR. A rule that edits IR reports it through erased() and operandsChanged().
class FusionGraph {
public:
  FusionGraph(mlir::Block &block, const ClonedProducers &cloned);

  /// Adds a group with an op that no kernel contains, at the end.
  FusionGroupId addOpaque(mlir::Operation *op);
  /// Merges `groups` into the first of them, which takes the position of the group that comes first in the order, and
  /// adds `op` unless it is null. Without groups, `op` starts a new one, at the end. All groups that the merged one
  /// depends on must come before it (predecessorsBetween(), moveBefore()).
  FusionGroupId merge(llvm::ArrayRef<FusionGroupId> groups, mlir::Operation *op, KernelShape shape);
  /// Replaces `op`, which is about to be erased, by other ops in its group.
  void replace(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> replacements);
  void setShape(FusionGroupId id, KernelShape shape) { groups[id].shape = std::move(shape); }

  /// nullopt for an op that was not added, such as a cloned producer.
  std::optional<FusionGroupId> groupOf(mlir::Operation *op) const;
  const FusionGroup &group(FusionGroupId id) const { return groups[id]; }
  /// The number of ids, including those of groups that were merged into others.
  size_t size() const { return groups.size(); }

  /// The ops of this block that are in groups and on which `op` depends. A collective also depends on the collective
  /// before it: otherwise one kernel could compute an operand of the first and read a result of the second.
  llvm::ArrayRef<mlir::Operation *> producersOf(mlir::Operation *op);
  /// The groups of `op`'s producers that become kernels, ordered by the op that joined last, latest first.
  llvm::SmallVector<FusionGroupId> producerKernels(mlir::Operation *op);
  /// The ops that read `value`: cloned producers and, through them, their users. An op in a nested region is
  /// represented by the op of this block that encloses it.
  llvm::SmallVector<mlir::Operation *> consumersOf(mlir::Value value) const;

  /// Returns true if `a` comes before `b` in the current order.
  bool isBefore(FusionGroupId a, FusionGroupId b) const { return order.isBefore(a, b); }
  /// The group of `ids` that comes first.
  FusionGroupId first(llvm::ArrayRef<FusionGroupId> ids) const;
  /// The groups on which a kernel of `ids` and `op` depends and that come after the first of `ids`. They must move
  /// before it. `op` may be null. Returns nullopt if one of them depends on that kernel.
  std::optional<llvm::SmallVector<FusionGroupId>> predecessorsBetween(llvm::ArrayRef<FusionGroupId> ids,
                                                                      mlir::Operation *op);
  /// Moves groups, in their order, directly before `id`. None of them may depend on `id`.
  void moveBefore(llvm::SmallVector<FusionGroupId> moving, FusionGroupId id);

  /// Must be called before `op`, which is in no group, is erased.
  void erased(mlir::Operation *op) { producers.erase(op); }
  /// Must be called after operands of `op`, or of cloned producers that it reads, have changed.
  void operandsChanged(mlir::Operation *op) { producers.erase(op); }
  /// Must be called after operands of unknown ops have changed.
  void operandsChanged() { producers.clear(); }

private:
  FusionGroupId idOf(mlir::Operation *op) const { return ids.at(op); }

  mlir::Block &block;
  const ClonedProducers &cloned;
  std::vector<FusionGroup> groups;
  llvm::DenseMap<mlir::Operation *, FusionGroupId> ids;
  int64_t joined = 0; // number of ops so far
  OrderedList order;  // of ids; each after those on which it depends
  // Without inline storage, so that the arrays are not moved when the map grows.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 0>> producers;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> collectiveBefore; // of each collective but the first
};

} // namespace halftone::compiler
