// Turning the ops of one block into kernels: which ops are copied, which join, and the launches that take their place.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/FormKernels.h"
#include "compiler/passes/Line.h"
#include "mlir/IR/SymbolTable.h"

namespace halftone::compiler {

struct Cluster {
  llvm::SmallVector<mlir::Operation *> ops;
  int64_t last = 0;    // of `number`
  bool opaque = false; // a `when`, `reshape` or `constant` that stays as it is
  KernelShape shape;
};

/// Turns the ops of one block into launches. Ops are visited in program order: cheap chains of stored values become
/// copies, every other op joins the kernels of its producers where a kind allows it, or starts a kernel.
class BlockFormer {
public:
  BlockFormer(mlir::Block &block, mlir::SymbolTable &symbols, const Blocking &blocking, bool strict)
      : block(block), symbols(symbols), blocking(blocking), strict(strict) {}
  llvm::LogicalResult run();

private:
  // Copies.
  bool isCopy(mlir::Operation *op) const { return !stored.contains(op) && (isGlue(op) || chains.contains(op)); }
  bool escapes(mlir::Operation *op) const;
  bool becomesChain(mlir::Operation *op);
  void storeEscapingConstants();
  mlir::Value store(mlir::Value value, mlir::Operation *user);
  void storeForContraction(dialect::ContractOp op);

  // Clusters.
  const llvm::SmallVector<mlir::Operation *> &producers(mlir::Operation *op);
  llvm::LogicalResult visit(mlir::Operation *op);
  llvm::LogicalResult start(mlir::Operation *op);
  bool join(mlir::Operation *op);
  llvm::SmallVector<mlir::Operation *> splitInto(std::optional<int64_t> host, dialect::ReduceOp op);
  bool splitReduction(dialect::ReduceOp op);
  void giveToReader(int64_t index, dialect::ReduceOp op);
  KernelBody bodyOf(llvm::ArrayRef<mlir::Operation *> home);
  bool isRead(mlir::Value value, const KernelBody &body) const;
  llvm::SetVector<mlir::Value> inputsOf(llvm::ArrayRef<mlir::Operation *> home, int64_t leastElements);
  std::optional<KernelShape> legal(llvm::ArrayRef<int64_t> merged, mlir::Operation *op);
  std::optional<llvm::SmallVector<int64_t>> ahead(llvm::ArrayRef<int64_t> merged, mlir::Operation *op);
  int64_t earliest(llvm::ArrayRef<int64_t> merged) const;
  void goAhead(llvm::SmallVector<int64_t> going, int64_t cluster);
  int64_t merge(llvm::ArrayRef<int64_t> merged, mlir::Operation *op, KernelShape shape);
  void giveReductionsToReaders();
  void joinSiblings();
  void joinNumbers();

  // Order of the block's ops. MLIR's own is counted anew after neighbours have come in.
  uint64_t placeOf(mlir::Operation *op);
  bool standsBefore(mlir::Operation *a, mlir::Operation *b);
  void erase(mlir::Operation *op);
  llvm::SmallVector<mlir::Operation *> readersOf(mlir::Value value) const;
  llvm::SmallVector<int64_t> clustersReading(mlir::Value value) const;

  // Writing.
  void emit(int64_t index);
  void emitAll();

  mlir::Block &block;
  mlir::SymbolTable &symbols;
  const Blocking &blocking;
  bool strict;
  llvm::DenseSet<mlir::Operation *> stored; // glue that must be in memory after all
  llvm::DenseSet<mlir::Operation *> chains; // cheap ops on values in memory, copied like glue
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> storedCopy;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>> producersOf;
  llvm::DenseMap<mlir::Operation *, int64_t> number, clusterOf;
  std::vector<Cluster> clusters;
  Line clusterLine; // clusters with ops: each behind those it waits for
  Line opLine;
  llvm::DenseMap<mlir::Operation *, size_t> opItems; // of opLine
  std::vector<bool> emitted;
  std::vector<mlir::Operation *> placed; // launches and opaque ops in their final order
};

} // namespace halftone::compiler
