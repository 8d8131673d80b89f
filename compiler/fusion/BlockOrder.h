// The order of a block's ops, kept up to date while ops are inserted and erased.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/order/OrderedList.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace halftone::compiler {

/// `Operation::isBeforeInBlock` renumbers the whole block after an insertion between two ops; this class does not. Ops
/// do not move within the block.
class BlockOrder {
public:
  explicit BlockOrder(mlir::Block &block) : block(block) {}
  /// Sorts ops of the block by position. Ops of enclosing blocks come first, those of outer blocks before those of
  /// inner ones.
  void sort(llvm::SmallVectorImpl<mlir::Operation *> &ops);
  /// Must be called before `op` is erased.
  void erased(mlir::Operation *op);

private:
  size_t itemOf(mlir::Operation *op);

  mlir::Block &block;
  OrderedList order;
  llvm::DenseMap<mlir::Operation *, size_t> items; // of `order`
};

} // namespace halftone::compiler
