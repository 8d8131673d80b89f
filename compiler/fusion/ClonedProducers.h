// The ops of a block that are cloned into each kernel that reads them, instead of being stored in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/KernelBody.h"
#include "compiler/fusion/BlockOrder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace halftone::compiler {

/// An op is cloned if it is always cloned (isAlwaysCloned) or a rule has marked it, and if no rule has stored it.
/// Queries also cover the cloned producers of cloned producers.
class ClonedProducers {
public:
  explicit ClonedProducers(mlir::Block &block) : block(block), order(block) {}

  bool isCloned(mlir::Operation *op) const {
    return !stored.contains(op) && (isAlwaysCloned(op) || marked.contains(op));
  }
  bool isStored(mlir::Operation *op) const { return stored.contains(op); }
  bool isMarked(mlir::Operation *op) const { return marked.contains(op); }
  bool isUnpacking(mlir::Operation *op) const { return unpacking.contains(op); }
  /// Clones `op`, which is cheap work on values in memory.
  void markChain(mlir::Operation *op) { marked.insert(op); }
  /// Marks `op` as unpacking a weight, or as computing an operand of such an op: contractions take it as their
  /// prologue.
  void markUnpacking(mlir::Operation *op) { unpacking.insert(op); }
  /// Stores the result of `op`, even if it is always cloned.
  void markStored(mlir::Operation *op) { stored.insert(op); }

  /// Returns true if `user` is in no kernel of this block and therefore reads its operands from memory.
  bool readsMemory(mlir::Operation *user) const;
  /// Returns true if a user of `op` reads its operands from memory.
  bool escapes(mlir::Operation *op) const;

  /// A copy of `value`, the result of a cloned op, that is stored in memory. All calls for an op return the same copy;
  /// the first inserts it before `user`.
  mlir::Value materialize(mlir::Value value, mlir::Operation *user);

  /// The kernel body of these ops of the block: the ops and the cloned producers that they read, in program order, and
  /// the results that other ops read.
  KernelBody bodyOf(llvm::ArrayRef<mlir::Operation *> own);
  /// The values with at least `minElements` elements that a kernel of these ops reads.
  llvm::SetVector<mlir::Value> inputsOf(llvm::ArrayRef<mlir::Operation *> own, int64_t minElements);
  /// Sorts ops of the block by position (BlockOrder).
  void sort(llvm::SmallVectorImpl<mlir::Operation *> &ops) { order.sort(ops); }

  /// Must be called before `op` is erased.
  void erased(mlir::Operation *op);

private:
  bool isRead(mlir::Value value, const KernelBody &body) const;

  mlir::Block &block;
  BlockOrder order;
  llvm::DenseSet<mlir::Operation *> stored, marked, unpacking;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> copies; // of cloned ops, stored in memory
};

} // namespace halftone::compiler
