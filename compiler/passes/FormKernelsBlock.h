// Turning the ops of one block into kernels: which ops are copied, which join, and the launches that take their place.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/FormKernels.h"
#include "compiler/passes/Line.h"
#include "compiler/targets/Target.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include <map>

namespace halftone::compiler {

/// Tensors of at least so many elements are large: kernels that share one read it once when they are one.
inline constexpr int64_t bigInput = 4096;

struct Cluster {
  llvm::SmallVector<mlir::Operation *> ops;
  int64_t last = 0;    // of `number`
  bool opaque = false; // a branch, loop, `reshape`, `hold`, `constant` or collective that stays as it is
  KernelShape shape;
};

/// How a value can be made again where it is read: with `ops` from `source`, a tensor in memory, and vectors.
struct Remake {
  mlir::Value value, source;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Clusters that are asked, in order, whether another joins them.
class Hosts {
public:
  void add(int64_t cluster) {
    if (known.insert(cluster).second)
      open.push_back({cluster, 0});
  }
  /// The first cluster for which `joins` is true; nullopt when there is none. A cluster that says no many times in a row
  /// is asked no more: so asking costs as much as there are clusters, not pairs of them.
  std::optional<int64_t> find(llvm::function_ref<bool(int64_t)> joins);

private:
  struct Host {
    int64_t cluster, refusals;
  };
  std::vector<Host> open;
  llvm::DenseSet<int64_t> known;
};

/// Turns the ops of one block into launches. Ops are visited in program order: cheap chains of stored values become
/// copies, every other op joins the kernels of its producers where a kind allows it, or starts a kernel.
class BlockFormer {
public:
  BlockFormer(mlir::Block &block, mlir::SymbolTable &symbols, const Target &target, Numerics numerics)
      : block(block), symbols(symbols), target(target), blocking(target.blocking(numerics)), numerics(numerics) {}
  llvm::LogicalResult run();

private:
  // Copies.
  bool isCopy(mlir::Operation *op) const { return !stored.contains(op) && (isGlue(op) || chains.contains(op)); }
  bool readsMemory(mlir::Operation *user) const;
  bool escapes(mlir::Operation *op) const;
  bool becomesChain(mlir::Operation *op);
  bool isWidenedByReaders(mlir::Operation *op) const;
  bool isReadInPlace(dialect::WindowOp op) const;
  void storeEscapingConstants();
  mlir::Value store(mlir::Value value, mlir::Operation *user);
  bool findUnpacking(mlir::Value value);
  void findBesideUnpacking(mlir::Value value);
  void storeForContraction(dialect::ContractOp op);
  bool isMadeByAttention(mlir::Operation *op, mlir::Value mask);
  llvm::LogicalResult storeForAttention(mlir::Operation *op);

  // Clusters.
  const llvm::SmallVector<mlir::Operation *> &producers(mlir::Operation *op);
  llvm::LogicalResult visit(mlir::Operation *op);
  mlir::FailureOr<bool> visitWindow(mlir::Operation *op);
  llvm::LogicalResult start(mlir::Operation *op);
  bool join(mlir::Operation *op);
  std::pair<dialect::PartialReduceOp, dialect::ReduceOp> halvesOf(dialect::ReduceOp op, const SideReduction &side);
  llvm::SmallVector<mlir::Operation *> splitInto(std::optional<int64_t> host, dialect::ReduceOp op);
  bool splitReduction(dialect::ReduceOp op);
  KernelBody bodyOf(llvm::ArrayRef<mlir::Operation *> home);
  void sortByPlace(llvm::SmallVectorImpl<mlir::Operation *> &ops);
  bool isRead(mlir::Value value, const KernelBody &body) const;
  llvm::SetVector<mlir::Value> inputsOf(llvm::ArrayRef<mlir::Operation *> home, int64_t leastElements);
  std::optional<KernelShape> legal(llvm::ArrayRef<int64_t> merged, mlir::Operation *op);
  std::optional<llvm::SmallVector<int64_t>> ahead(llvm::ArrayRef<int64_t> merged, mlir::Operation *op);
  int64_t earliest(llvm::ArrayRef<int64_t> merged) const;
  void goAhead(llvm::SmallVector<int64_t> going, int64_t cluster);
  int64_t merge(llvm::ArrayRef<int64_t> merged, mlir::Operation *op, KernelShape shape);
  void giveReductionsToReaders();
  std::map<std::vector<int64_t>, Hosts> readersByShape(mlir::Value value) const;
  bool giveReduction(int64_t host, int64_t index, dialect::ReduceOp op, llvm::ArrayRef<mlir::Value> inputs);
  bool splitAlone(int64_t index, dialect::ReduceOp op);
  void finishIn(int64_t index, dialect::ReduceOp op, llvm::ArrayRef<mlir::Operation *> finish,
                llvm::ArrayRef<mlir::Operation *> stale);
  bool joinClusters(int64_t host, int64_t index);
  void joinSiblings();
  void joinScalarKernels();

  // Values made again.
  bool isRemade(mlir::Operation *op);
  bool isReadElsewhere(mlir::Value value, int64_t index) const;
  std::optional<Remake> remakeOf(mlir::Value value, const KernelBody &body, const llvm::DenseSet<mlir::Value> &sources);
  std::optional<int64_t> lastReader(mlir::Value value) const;
  bool isSourceThere(const Remake &remake);
  void apply(const Remake &remake, int64_t index, mlir::IRMapping &twins);
  void remakeResultsOf(int64_t index);
  void remakeStored();
  llvm::DenseMap<mlir::Value, std::optional<int64_t>> lastReaders; // of sources, by lastReader(), with later readers

  // Order of the block's ops. MLIR's own is counted anew after neighbours have come in.
  size_t itemOf(mlir::Operation *op);
  void erase(mlir::Operation *op);
  llvm::SmallVector<mlir::Operation *> readersOf(mlir::Value value) const;

  // Writing.
  void emit(int64_t index);
  void emitAll();

  mlir::Block &block;
  mlir::SymbolTable &symbols;
  const Target &target;
  const Blocking &blocking;
  Numerics numerics;
  llvm::DenseSet<mlir::Operation *> stored;    // glue that must be in memory after all
  llvm::DenseSet<mlir::Operation *> chains;    // cheap ops and windows of values in memory, copied like glue
  llvm::DenseSet<mlir::Operation *> unpacking; // work on packed weights, which only a matmul reads: copied into it
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> storedCopy;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>> producersOf;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> collectiveBefore; // of each collective but the first
  llvm::DenseMap<mlir::Operation *, int64_t> number, clusterOf;
  std::vector<Cluster> clusters;
  Line clusterLine; // clusters with ops: each behind those it waits for
  Line opLine;
  llvm::DenseMap<mlir::Operation *, size_t> opItems; // of opLine
  std::vector<bool> emitted;
  std::vector<mlir::Operation *> placed; // launches and opaque ops in their final order
};

} // namespace halftone::compiler
