// Writes the linalg forms of attention and of its gradient, one linalg.generic after another.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/Roots.h"
#include "compiler/kernels/AttentionDims.h"
#include "compiler/targets/Target.h"
#include "dialect/AttentionParts.h"

namespace halftone::compiler {

AttentionTraits attentionTraits(const dialect::AttentionInputs &inputs);

/// Reads values of `kernel`, whose ops are plain halftone ops, and writes the generics that compute them. After an
/// error every call is a no-op, and finish() fails.
class AttentionWriter {
public:
  AttentionWriter(dialect::KernelOp kernel, const dialect::AttentionInputs &inputs);

  /// Declares that contractions multiply `value`, an operand of the kernel, with the given dims as its axes.
  void declare(mlir::Value value, const Access &access);
  /// Returns the node of `value`; null after an error. The result of a contraction among its producers has the access
  /// `contracted`.
  ValueNode *node(mlir::Value value, const Access &access, const Access &contracted);
  /// Starts the function, whose results are `results` at their accesses. A result with a combiner consists of partial
  /// results, which the kernel does not combine. `others` are nodes that no result depends on.
  void begin(KernelForm form, llvm::ArrayRef<KernelResult> results, llvm::ArrayRef<ValueNode *> others);
  /// Writes one generic that computes `node`. Later generics read the tensor that it returns.
  mlir::Value add(ValueNode *node, const Access &access);
  /// Writes the next contraction, in the order of the kernel's ops, over the dims `kept`, then `reduced`.
  void contract(const GenericBuilder::Factor &a, const GenericBuilder::Factor &b, const Access &kept,
                const Access &reduced);
  /// Returns an operand that declare() registered.
  GenericBuilder::Factor operand(mlir::Value value);
  GenericBuilder::Factor inScores(mlir::Value tensor) const { return {tensor, points, scoreType}; }
  /// Ends the function. Returns the description of its launch, which has `grid` blocks of the sizes `blockSizes` and
  /// takes about `perScore` nanoseconds per score. On failure a diagnostic was emitted, here or before.
  mlir::FailureOr<KernelDescription> finish(const Target &target, llvm::ArrayRef<int64_t> blockSizes, int64_t grid,
                                            double perScore);

  mlir::LogicalResult state() const { return mlir::success(!failed && !graph.failed); }
  int64_t extent(AttentionDim dim) const { return space.extent(dim); }

  const Access rows{batchDim, groupDim, headDim, queryDim}, points{batchDim, groupDim, headDim, queryDim, keyDim};
  const Access products{batchDim, groupDim, queryDim, headDim, keyDim}; // as a contraction produces scores of groups
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
  llvm::SmallVector<ValueNode *> contractions; // not yet written; the next one is last
};

} // namespace halftone::compiler
