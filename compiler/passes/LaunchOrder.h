// What the passes that settle the order of launches share: who waits for whom in a block.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>
#include <vector>

namespace halftone::compiler {

/// An old value of a variable or shadow and what replaces it, both as seen in one block.
struct Replacement {
  mlir::Value old, fresh;
};

/// The ops of a block, by their position, and the order between them.
class LaunchOrder {
public:
  explicit LaunchOrder(mlir::Block &block);

  /// Reads of `old`, through reshapes too, go before what makes `fresh`, where nothing else forbids it.
  void readFirst(const Replacement &pair);
  /// Puts `op` and `later`, with what was gathered with them, next to each other when neither waits for the other;
  /// returns whether.
  bool gather(size_t op, size_t later);
  /// The order of the program, changed only where waiting or gathering asks for it.
  std::vector<size_t> settled() const;
  void apply();

  std::vector<mlir::Operation *> ops;

private:
  bool waitsFor(size_t op, size_t other) const;

  mlir::Block *block;
  llvm::DenseMap<mlir::Operation *, size_t> index;
  llvm::DenseMap<mlir::Value, std::set<size_t>> readers;
  std::vector<std::set<size_t>> before;     // by op, of leaders and others
  std::vector<size_t> leader;               // of the ops that were gathered with it; itself
  std::vector<std::vector<size_t>> members; // by leader, in the order of the program
};

/// Calls `visit` for each block of @main, with the variables and shadows that it replaces; regions of `when` after the
/// block around them. False, with an error, when there is no @main with a body.
bool forEachLaunchBlock(mlir::ModuleOp module, llvm::function_ref<void(mlir::Block &, llvm::ArrayRef<Replacement>)> visit);

} // namespace halftone::compiler
