// Dependencies between the launches of a block, shared by the passes that order launches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/order/DependencyOrder.h"
#include "dialect/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace halftone::compiler {

/// An old value of a variable or shadow and the value that replaces it, both as seen in one block.
struct Replacement {
  mlir::Value old, fresh;
};

/// A value whose live range lies within one block. Ops are given by position; uses through a reshape count as uses.
struct LocalValue {
  size_t producer;
  int64_t bytes;
  llvm::SmallVector<size_t, 2> readers; // each once
};

/// The ops of a block, by position, and their dependency order.
class LaunchOrder {
public:
  explicit LaunchOrder(mlir::Block &block);

  /// Orders readers of `old`, including those through reshapes, before the op that defines `fresh`, where dependencies
  /// allow.
  void readFirst(const Replacement &pair);
  /// Gathers launches, given by position in ascending order, into groups of adjacent launches: each joins the first
  /// group on which it does not depend and that does not depend on it. Returns the first launch of each group, for
  /// release().
  std::vector<size_t> gather(llvm::ArrayRef<size_t> launches) { return waits.gather(launches); }
  void release(llvm::ArrayRef<size_t> leaders) { waits.release(leaders); }
  /// Program order, changed only where readFirst() or gather() requires it.
  std::vector<size_t> sorted() const { return waits.sorted(); }
  void apply(DependencyOrder::Urgency *urgency = nullptr);
  std::vector<LocalValue> localValues() const;

  std::vector<mlir::Operation *> ops;

private:
  std::optional<LocalValue> localValue(mlir::Value value, size_t producer) const;

  mlir::Block *block;
  llvm::DenseMap<mlir::Operation *, size_t> index;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t, 2>> readers; // in ascending order
  DependencyOrder waits;
};

/// Calls `visit` for each block of @main, with the variables and shadows that it replaces, or the carries of a loop
/// body. Regions of branches and loops are visited after the enclosing block. If there is no @main with a body, emits
/// an error and returns false.
bool forEachLaunchBlock(mlir::ModuleOp module,
                        llvm::function_ref<void(mlir::Block &, llvm::ArrayRef<Replacement>)> visit);

} // namespace halftone::compiler
