// The values that a kernel yields, and the nodes of the value graph that compute them: shared by all forms.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/GenericBuilder.h"
#include "compiler/forms/KernelDescription.h"

namespace halftone::compiler {

/// A value that a kernel yields, or whose `partial_reduce` it yields, seen through shape ops and `pack`.
struct Root {
  mlir::Value value;                     // of the kernel's shape, or one element per row
  dialect::PartialReduceOp partial = {}; // set if this is a partial reduction of `value`
  mlir::Type element;                    // stored type of the result
  int64_t elements = 0;                  // of `value`
  dialect::PanelsAttr panels = {};       // layout of the result, if it is packed
};
llvm::SmallVector<Root> rootsOf(dialect::KernelOp kernel);

/// A reduce or arg_reduce over more than one element, which gives a kernel its rows or its reduced dims.
struct Reduction {
  mlir::Operation *op;
  llvm::SmallVector<int64_t> keptBefore, reduced, keptAfter; // extents; keptAfter follows the last reduced axis
};
std::optional<Reduction> firstReduction(mlir::Block &ops);
/// The shapes, of more than one element, that `ops` reduce to scalars, in order of appearance.
llvm::SmallVector<std::vector<int64_t>> shapesReducedToScalars(mlir::Block &ops);

/// `rows` of the kernel's spec, or 0.
int64_t specifiedRows(dialect::KernelOp kernel);
int64_t product(llvm::ArrayRef<int64_t> extents);

/// Returns the result for `root` at the kernel's full access `all`: its node and, for a partial reduction, the kept
/// dims. Returns nullopt if the space was refined, or on failure.
std::optional<KernelResult> resultOf(ValueGraph &graph, IterationSpace &space, const Root &root, const Access &all);

/// Reads the results for all roots in a new graph, and again each time that a read has split the space. `prepare` sets
/// the graph's scope before each attempt; `accessOf` returns the access at which a root is read. Both query the space,
/// whose dims change. On failure a diagnostic is emitted; its text is `message` if no split of the space fits.
struct ReadRoots {
  std::unique_ptr<ValueGraph> graph;
  llvm::SmallVector<KernelResult> results;
};
mlir::FailureOr<ReadRoots> readRoots(dialect::KernelOp kernel, IterationSpace &space, Numerics numerics,
                                     llvm::ArrayRef<Root> roots, llvm::function_ref<void(ValueGraph &)> prepare,
                                     llvm::function_ref<Access(const Root &)> accessOf, llvm::StringRef message);

llvm::SmallVector<ValueNode *> nodesOf(llvm::ArrayRef<KernelResult> results);
GenericOutput outputOf(const KernelResult &result);
/// The results as outputs of the last generic.
llvm::SmallVector<GenericOutput> outputsOf(llvm::ArrayRef<KernelResult> results);

/// Writes the target's schedule, if it has one, onto `function`, the complete linalg form of a row or finish kernel.
void writeRowSchedule(mlir::func::FuncOp function, llvm::ArrayRef<int64_t> extents, const Target &target);

/// Checks that each partial reduction of a loop or row kernel has one partial result per block.
mlir::LogicalResult checkPartialResults(llvm::ArrayRef<Root> roots, llvm::ArrayRef<KernelResult> results, int64_t grid);

/// Estimated nanoseconds on one core: `elements` times the ops of the nodes that `results` reach, and the bytes that
/// the kernel touches.
double estimatedCost(dialect::KernelOp kernel, llvm::ArrayRef<KernelResult> results, double elements);

} // namespace halftone::compiler
