// Shared by the passes that settle the order of launches: which launch waits for which in a block.
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

/// A value that is made in a block and ends in it: no result of the block. Positions of ops; reads through reshapes count.
struct LocalValue {
  size_t maker;
  int64_t bytes;
  llvm::SmallVector<size_t, 2> readers; // each once
};

/// The ops of a block, by their position, and the order between them.
class LaunchOrder {
public:
  explicit LaunchOrder(mlir::Block &block);

  /// Reads of `old`, through reshapes too, go before the op that makes `fresh`, where nothing else forbids it.
  void readFirst(const Replacement &pair);
  /// Gathers launches, by their positions in rising order, into groups that stand together: each joins the first group
  /// that it does not wait for and that does not wait for it. Returns the first launch of each group, for release().
  std::vector<size_t> gather(llvm::ArrayRef<size_t> launches) { return waits.gather(launches); }
  void release(llvm::ArrayRef<size_t> leaders) { waits.release(leaders); }
  /// The order of the program, changed only where waiting or gathering asks for it.
  std::vector<size_t> settled() const { return waits.settled(); }
  void apply(DependencyOrder::Urgency *urgency = nullptr);
  std::vector<LocalValue> localValues() const;

  std::vector<mlir::Operation *> ops;

private:
  std::optional<LocalValue> localValue(mlir::Value value, size_t maker) const;

  mlir::Block *block;
  llvm::DenseMap<mlir::Operation *, size_t> index;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t, 2>> readers; // in rising order
  DependencyOrder waits;
};

/// Calls `visit` for each block of @main, with the variables and shadows that it replaces, and a loop's body with its carries;
/// regions of branches and loops after the block around them. False, with an error, when there is no @main with a body.
bool forEachLaunchBlock(mlir::ModuleOp module,
                        llvm::function_ref<void(mlir::Block &, llvm::ArrayRef<Replacement>)> visit);

} // namespace halftone::compiler
