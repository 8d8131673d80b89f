// The state of the fusion of one block, and which fusions are legal.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/fusion/FusionGraph.h"
#include "compiler/targets/Target.h"
#include "mlir/IR/SymbolTable.h"

namespace halftone::compiler {

/// A legal fusion.
struct Fusion {
  llvm::SmallVector<FusionGroupId> groups; // become the first of them; without groups, `op` starts one
  mlir::Operation *op = nullptr;           // joins them; or null
  KernelShape shape;                       // of the kernel
  llvm::SmallVector<FusionGroupId> before; // groups that have to move before it
};

struct FusionState {
  FusionState(mlir::Block &block, mlir::SymbolTable &symbols, const Target &target, Numerics numerics)
      : block(block), symbols(symbols), target(target), blocking(target.blocking(numerics)),
        costs(target.fusionCosts()), numerics(numerics), cloned(block), graph(block, cloned) {}

  /// The shape of a kernel that holds the ops of `groups` and `op`, which may be null; nullopt if none holds them. Dependencies
  /// between groups do not matter.
  std::optional<KernelShape> canFuse(llvm::ArrayRef<FusionGroupId> groups, mlir::Operation *op);
  /// The fusion of `groups` and `op`, if canFuse() and if no dependency cycle arises.
  std::optional<Fusion> plan(llvm::ArrayRef<FusionGroupId> groups, mlir::Operation *op);
  /// Updates the graph. Returns the merged group.
  FusionGroupId fuse(Fusion fusion);
  /// Merges group `other` into `id` if that is legal.
  bool tryMerge(FusionGroupId id, FusionGroupId other);
  /// Erases `op`, which has no users and is in no group.
  void erase(mlir::Operation *op);

  mlir::Block &block;
  mlir::SymbolTable &symbols; // of the module, which gets the kernels
  const Target &target;
  const Blocking &blocking;
  const FusionCosts costs;
  Numerics numerics;
  ClonedProducers cloned;
  FusionGraph graph;
};

} // namespace halftone::compiler
