// The state of fusion in one block, and the legality of fusions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/FusionDecision.h"
#include "compiler/fusion/FusionLog.h"
#include "compiler/targets/Target.h"
#include "mlir/IR/SymbolTable.h"

namespace halftone::compiler {

/// A legal fusion.
struct Fusion {
  llvm::SmallVector<FusionGroupId> groups; // are merged into the first; if empty, `op` starts a group
  mlir::Operation *op = nullptr;           // joins the groups; or null
  KernelShape shape;                       // of the kernel
  llvm::SmallVector<FusionGroupId> before; // groups that must move before it
};

struct FusionState {
  /// `log` receives the decisions of the rules; may be null.
  FusionState(mlir::Block &block, mlir::SymbolTable &symbols, const Target &target, Numerics numerics, FusionLog *log)
      : block(block), symbols(symbols), target(target), blocking(target.blocking(numerics)),
        costs(target.fusionCosts()), numerics(numerics), cloned(block), graph(block, cloned), log(log) {}

  /// The shape of a kernel that contains the ops of `groups` and `op`, which may be null, or the reason why there is
  /// none. Dependencies between groups are ignored.
  FusionDecision canFuse(llvm::ArrayRef<FusionGroupId> groups, mlir::Operation *op);
  /// The fusion of `groups` and `op`, if canFuse() and if it creates no dependency cycle. Otherwise the reason is
  /// logged for the last group and `op`, or the first group if `op` is null.
  std::optional<Fusion> plan(llvm::ArrayRef<FusionGroupId> groups, mlir::Operation *op);
  /// Applies the fusion to the graph. Returns the merged group.
  FusionGroupId fuse(Fusion fusion);
  /// Merges group `other` into `id` if that is legal.
  bool tryMerge(FusionGroupId id, FusionGroupId other);
  /// Logs that the current rule declined to decide about `op`.
  void decline(mlir::Operation *op, llvm::StringRef reason);
  /// Logs that the current rule left the result of `op` in memory, where a kernel stores it for others.
  void keepStored(mlir::Operation *op, llvm::StringRef reason);
  /// Logs that the current rule declined to add `op` to the kernel of `group`.
  void decline(mlir::Operation *op, FusionGroupId group, llvm::StringRef reason);
  /// Logs that the current rule applied to `op`.
  void note(mlir::Operation *op);
  /// Erases `op`, which has no users and is in no group.
  void erase(mlir::Operation *op);

  mlir::Block &block;
  mlir::SymbolTable &symbols; // of the module, to which the kernels are added
  const Target &target;
  const Blocking &blocking;
  const FusionCosts costs;
  Numerics numerics;
  ClonedProducers cloned;
  FusionGraph graph;
  FusionLog *log;       // or null
  llvm::StringRef rule; // the rule that is being applied
};

} // namespace halftone::compiler
