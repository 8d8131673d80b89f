// Turning the ops of one block into kernels: which ops are cloned, which join, and the launches that take their place.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/Forms.h"
#include "compiler/fusion/FusionCandidates.h"
#include "compiler/fusion/FusionState.h"
#include "mlir/IR/IRMapping.h"
#include <map>

namespace halftone::compiler {

/// How a value can be recomputed where it is read: with `ops` from `source`, a tensor in memory, and vectors.
struct Recompute {
  mlir::Value value, source;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Turns the ops of one block into launches. Ops are visited in program order: cheap chains of stored values become
/// cloned producers, every other op joins the kernels of its producers where a kind allows it, or starts a kernel.
class BlockFormer {
public:
  BlockFormer(mlir::Block &block, mlir::SymbolTable &symbols, const Target &target, Numerics numerics)
      : state(block, symbols, target, numerics) {}
  llvm::LogicalResult run();

private:
  // Cloned producers.
  bool becomesChain(mlir::Operation *op);
  bool isWidenedByReaders(mlir::Operation *op) const;
  bool isReadInPlace(dialect::WindowOp op) const;
  void storeEscapingConstants();
  llvm::LogicalResult store(mlir::OpOperand &operand);
  bool findUnpacking(mlir::Value value);
  void findBesideUnpacking(mlir::Value value);
  void storeForContraction(dialect::ContractOp op);
  bool isMadeByAttention(mlir::Operation *op, mlir::Value mask);
  llvm::LogicalResult storeForAttention(mlir::Operation *op);

  // Groups.
  llvm::LogicalResult visit(mlir::Operation *op);
  mlir::FailureOr<bool> visitWindow(mlir::Operation *op);
  llvm::LogicalResult start(mlir::Operation *op);
  bool join(mlir::Operation *op);
  std::pair<dialect::PartialReduceOp, dialect::ReduceOp> splitInTwo(dialect::ReduceOp op, const SideReduction &side);
  llvm::SmallVector<mlir::Operation *> splitInto(std::optional<FusionGroupId> host, dialect::ReduceOp op);
  bool splitReduction(dialect::ReduceOp op);
  void giveReductionsToReaders();
  std::map<std::vector<int64_t>, FusionCandidates> readersByShape(mlir::Value value) const;
  bool giveReduction(FusionGroupId host, FusionGroupId id, dialect::ReduceOp op, llvm::ArrayRef<mlir::Value> inputs);
  bool splitAlone(FusionGroupId id, dialect::ReduceOp op);
  void finishIn(dialect::ReduceOp op, llvm::ArrayRef<mlir::Operation *> finish,
                llvm::ArrayRef<mlir::Operation *> stale);
  void joinSiblings();
  void joinScalarKernels();

  // Recomputed values.
  bool isRecomputed(mlir::Operation *op);
  bool isReadElsewhere(mlir::Value value, FusionGroupId id) const;
  std::optional<Recompute> recomputeOf(mlir::Value value, const KernelBody &body,
                                       const llvm::DenseSet<mlir::Value> &sources);
  std::optional<FusionGroupId> lastReader(mlir::Value value) const;
  bool isSourceThere(const Recompute &recompute);
  void apply(const Recompute &recompute, FusionGroupId id, mlir::IRMapping &twins);
  void recomputeResultsOf(FusionGroupId id);
  void recomputeStored();
  llvm::DenseMap<mlir::Value, std::optional<FusionGroupId>> lastReaders; // of sources, by lastReader(), with later ones

  FusionState state;
};

} // namespace halftone::compiler
