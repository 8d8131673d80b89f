// Builds the function of a kernel's linalg form: its type, then one linalg.generic at a time from nodes of the value
// graph. SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/GenericBody.h"
#include "compiler/kernels/KernelForm.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/OwningOpRef.h"

namespace halftone::compiler {

/// One output of a generic.
struct GenericOutput {
  ValueNode *node;
  mlir::Type element;   // of the tensor
  Access access;        // the dims that the tensor has
  std::string combiner; // "" or a combiner over the dims that `access` lacks
  bool isSide = false;  // the combiner takes the node's elements; if not, the node is the reduction itself
  mlir::Value start{};  // the tensor that is combined; null: the neutral element

  /// The node whose elements the generic computes.
  ValueNode *computed() const { return combiner.empty() || isSide ? node : node->inputs[0]; }
};

/// A result of the kernel: its stored type, dims and, when packed, layout; `combiner` for a side reduction.
struct KernelResult {
  ValueNode *node;
  mlir::Type element;
  Access access;
  std::string combiner;
  dialect::PanelsAttr panels = {};
};

class GenericBuilder {
public:
  /// For `kernel` over `space`, which is final. Index arguments are the dims' extents, then `form`'s block sizes and
  /// numbers.
  GenericBuilder(dialect::KernelOp kernel, const IterationSpace &space, KernelForm form);

  /// Ranks of operands from the loads that `nodes` reach, 1 of those that are looked up; one that none loads gets rank
  /// 0. Fails with a diagnostic when one operand is read over different numbers of dims, or in both ways.
  mlir::LogicalResult declareOperands(llvm::ArrayRef<ValueNode *> nodes);
  /// The rank of an operand that the caller provides itself.
  void declareOperand(int number, int rank) { ranks[size_t(number)] = rank; }
  /// Operand `number` is an image that is read through a window.
  void setWindow(int number, WindowForm window) { windows[number] = std::move(window); }
  /// Starts `func.func @kernel` in a new module, of the form with these operands and results.
  void begin(llvm::ArrayRef<KernelResult> results);
  /// The nodes that `nodes` depend on, and those themselves, in topological order.
  static llvm::SmallVector<ValueNode *> reachable(llvm::ArrayRef<ValueNode *> nodes);

  /// One generic over `dims`, and the tensors of its outputs.
  llvm::SmallVector<mlir::Value> generic(llvm::ArrayRef<int> dims, llvm::ArrayRef<GenericOutput> outputs);
  /// A tensor that a contraction multiplies: its dims, and the dtype of its elements, which may be unsigned.
  struct Factor {
    mlir::Value tensor;
    Access access;
    mlir::Type element;
  };
  /// The contraction of two tensors over `dims`, accumulated in `accumulator`; the result has the dims `kept`, the first
  /// of `dims`.
  mlir::Value contraction(llvm::ArrayRef<int> dims, const Factor &a, const Factor &b, llvm::ArrayRef<int> kept,
                          mlir::Type accumulator);
  mlir::Value operand(int number) { return function.getArgument(space.size() + blockSizes + lookupArguments + number); }
  /// An extent, by its dim, and a launch argument behind the block sizes, as an index.
  mlir::Value extent(int dim) { return function.getArgument(unsigned(dim)); }
  mlir::Value lookupArgument(int number) { return function.getArgument(unsigned(space.size() + blockSizes + number)); }
  /// A tensor that nobody has written.
  mlir::Value empty(llvm::ArrayRef<int> access, mlir::Type element);
  /// `node` is at hand in `tensor`, one element per index of `access`.
  void provide(ValueNode *node, mlir::Value tensor, llvm::ArrayRef<int> access);
  bool isProvided(ValueNode *node) const { return provided.contains(node); }
  /// Ends the function with `results`, in the order of begin.
  mlir::OwningOpRef<mlir::ModuleOp> finish(mlir::ValueRange results);

  mlir::func::FuncOp function;
  mlir::OpBuilder builder;

private:
  struct Provided {
    mlir::Value tensor;
    Access access;
  };

  mlir::RankedTensorType tensorType(int rank, mlir::Type element);
  /// Finds the block arguments of a body that computes `node`, and the extents that it needs.
  void collect(GenericBody &body, llvm::SmallPtrSetImpl<ValueNode *> &seen, ValueNode *node);
  void needExtents(llvm::ArrayRef<int> access);
  void needIndex(int place, int argument);
  mlir::Value initial(const GenericOutput &output, bool isIndex);
  /// The values that a generic with these outputs yields: of an output without combiner the element itself, of the others
  /// the element combined with the accumulator. `accumulators` are the block arguments of all outputs, in order.
  llvm::SmallVector<mlir::Value> yieldsOf(GenericBody &body, mlir::OpBuilder &inner,
                                          llvm::ArrayRef<GenericOutput> outputs, mlir::ValueRange accumulators);

  dialect::KernelOp kernel;
  const IterationSpace &space;
  KernelForm form;
  Numerics numerics;
  int blockSizes, lookupArguments;
  mlir::Location loc;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<int> ranks;
  std::map<int, WindowForm> windows;
  llvm::SmallVector<mlir::Value> extents64; // dims whose extent, and numbers that a body needs
  std::map<ValueNode *, Provided> provided;
};

} // namespace halftone::compiler
