// Writes the linalg forms of attention and of its gradient, one generic after another.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/Roots.h"
#include "compiler/kernels/AttentionDims.h"
#include "compiler/targets/Target.h"
#include "dialect/AttentionParts.h"

namespace halftone::compiler {

AttentionTraits attentionTraits(const dialect::AttentionInputs &inputs);

/// Reads values of `kernel`, whose ops are ordinary ones, and writes generics that make them. After an error every call
/// does nothing, and finish() fails.
class AttentionWriter {
public:
  AttentionWriter(dialect::KernelOp kernel, const dialect::AttentionInputs &inputs);

  /// Says that contractions multiply `value`, an operand of the kernel, and which dims its axes are.
  void declare(mlir::Value value, const Access &access);
  /// The node of `value`; null after an error. A contraction among the ops behind it has its result at `contracted`.
  ValueNode *node(mlir::Value value, const Access &access, const Access &contracted);
  /// Starts the function, whose results are `results` at their accesses; one with a combiner is in pieces, which the kernel
  /// does not combine. Nodes that no result depends on are `others`.
  void begin(KernelForm form, llvm::ArrayRef<KernelResult> results, llvm::ArrayRef<ValueNode *> others);
  /// Writes one generic that makes `node`. Later generics read the tensor that it returns.
  mlir::Value add(ValueNode *node, const Access &access);
  /// Writes a contraction over the dims `kept`, then `reduced`: the one that comes next in the order of the kernel's ops.
  void contract(const GenericBuilder::Factor &a, const GenericBuilder::Factor &b, const Access &kept,
                const Access &reduced);
  /// An operand that declare() named.
  GenericBuilder::Factor operand(mlir::Value value);
  GenericBuilder::Factor inScores(mlir::Value tensor) const { return {tensor, points, scoreType}; }
  /// Ends the function. Gives the description of its launch: it has `grid` blocks of the sizes `blockSizes`, and each
  /// score takes about `perScore` nanoseconds. On failure a diagnostic was emitted, here or before.
  mlir::FailureOr<KernelDescription> finish(const Target &target, llvm::ArrayRef<int64_t> blockSizes, int64_t grid,
                                            double perScore);

  mlir::LogicalResult state() const { return mlir::success(!failed && !graph.failed); }
  int64_t extent(AttentionDim dim) const { return space.extent(dim); }

  const Access rows{batchDim, groupDim, headDim, queryDim}, points{batchDim, groupDim, headDim, queryDim, keyDim};
  const Access products{batchDim, groupDim, queryDim, headDim, keyDim}; // as a contraction gives the scores of groups
  const Access ofQueries{batchDim, queryDim, groupDim, headDim, depthDim}, ofKeys{batchDim, keyDim, groupDim, depthDim},
      ofValues{batchDim, keyDim, groupDim, widthDim}, ofOut{batchDim, queryDim, groupDim, headDim, widthDim};

private:
  void provide(ValueNode *node, mlir::Value tensor, const Access &access);

  dialect::KernelOp kernel;
  IterationSpace space;
  ValueGraph graph;
  mlir::Type scoreType;
  bool causal, failed = false;
  std::optional<GenericBuilder> builder;
  llvm::SmallVector<KernelResult> results;
  llvm::SmallVector<std::pair<mlir::Value, ValueNode *>> factors;
  llvm::SmallVector<ValueNode *> reached;      // nodes that results depend on
  llvm::SmallVector<ValueNode *> contractions; // not yet made, in order
};

} // namespace halftone::compiler
