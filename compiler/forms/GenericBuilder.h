// Builds the function of a kernel's linalg form: its type, then one linalg.generic at a time from value graph nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/GenericBody.h"
#include "compiler/kernels/KernelForm.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/OwningOpRef.h"

namespace halftone::compiler {

/// One output of a generic.
struct GenericOutput {
  ValueNode *node;
  mlir::Type element;     // of the tensor
  Access access;          // the dims that the tensor has
  std::string combiner;   // "" or a combiner over the dims that `access` lacks
  bool isPartial = false; // the combiner takes the node's elements; otherwise the node is the reduction itself
  mlir::Value start{};    // the tensor to combine with; null: the neutral element

  /// The node whose elements the generic computes.
  ValueNode *computed() const { return combiner.empty() || isPartial ? node : node->inputs[0]; }
};

/// A result of the kernel: its stored type, its dims and, if packed, its layout; `combiner` for a partial reduction.
struct KernelResult {
  ValueNode *node;
  mlir::Type element;
  Access access;
  std::string combiner;
  dialect::PanelsAttr panels = {};
};

class GenericBuilder {
public:
  /// Builds the form of `kernel` over `space`, which is final. The index arguments are the extents of the dims, then
  /// the block sizes and lookup arguments of `form`.
  GenericBuilder(dialect::KernelOp kernel, const IterationSpace &space, KernelForm form);

  /// Sets the ranks of operands from the loads that `nodes` reach: 1 for operands that are looked up, 0 for operands
  /// that no node loads. Fails with a diagnostic if an operand is read over different numbers of dims, or both by load
  /// and by lookup.
  mlir::LogicalResult declareOperands(llvm::ArrayRef<ValueNode *> nodes);
  /// Sets the rank of an operand that the caller provides itself.
  void declareOperand(int number, int rank) { ranks[size_t(number)] = rank; }
  /// Declares that operand `number` is an image that is read through a window.
  void setWindow(int number, WindowForm window) { windows[number] = std::move(window); }
  /// Starts `func.func @kernel` in a new module, with these operands and results and the attributes of the form.
  void begin(llvm::ArrayRef<KernelResult> results);
  /// Returns `nodes` and the nodes that they depend on, in topological order.
  static llvm::SmallVector<ValueNode *> reachable(llvm::ArrayRef<ValueNode *> nodes);

  /// Writes one generic over `dims` and returns the tensors of its outputs.
  llvm::SmallVector<mlir::Value> generic(llvm::ArrayRef<int> dims, llvm::ArrayRef<GenericOutput> outputs);
  /// A tensor that a contraction multiplies: its dims, and the dtype of its elements, which may be unsigned.
  struct Factor {
    mlir::Value tensor;
    Access access;
    mlir::Type element;
  };
  /// Writes the contraction of two tensors over `dims`, accumulated in `accumulator`. The result has the dims `kept`,
  /// which are the first of `dims`.
  mlir::Value contraction(llvm::ArrayRef<int> dims, const Factor &a, const Factor &b, llvm::ArrayRef<int> kept,
                          mlir::Type accumulator);
  mlir::Value operand(int number) { return function.getArgument(space.size() + blockSizes + lookupArguments + number); }
  /// The extent of a dim, and a launch argument after the block sizes, as an index.
  mlir::Value extent(int dim) { return function.getArgument(unsigned(dim)); }
  mlir::Value lookupArgument(int argument) {
    return function.getArgument(unsigned(space.size() + blockSizes + argument));
  }
  /// A tensor with undefined contents.
  mlir::Value empty(llvm::ArrayRef<int> access, mlir::Type element);
  /// Declares that `node` is available in `tensor`, one element per index of `access`.
  void provide(ValueNode *node, mlir::Value tensor, llvm::ArrayRef<int> access);
  bool isProvided(ValueNode *node) const { return provided.contains(node); }
  /// Ends the function with `results`, in the order given to begin().
  mlir::OwningOpRef<mlir::ModuleOp> finish(mlir::ValueRange results);

  mlir::func::FuncOp function;
  mlir::OpBuilder builder;

private:
  struct Provided {
    mlir::Value tensor;
    Access access;
  };

  mlir::RankedTensorType tensorType(int rank, mlir::Type element);
  /// Finds the block arguments of a body that computes `node`, and the extents that the body needs.
  void collect(GenericBody &body, llvm::SmallPtrSetImpl<ValueNode *> &seen, ValueNode *node);
  void needExtents(llvm::ArrayRef<int> access);
  void needIndex(int position, int argument);
  mlir::Value initial(const GenericOutput &output, bool isIndex);
  /// The values that a generic with these outputs yields: for an output without a combiner the element itself, for the
  /// others the element combined with the accumulator. `accumulators` are the block arguments of all outputs, in order.
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
  llvm::SmallVector<mlir::Value> extents64; // extents of dims and lookup arguments that a body needs
  std::map<ValueNode *, Provided> provided;
};

} // namespace halftone::compiler
