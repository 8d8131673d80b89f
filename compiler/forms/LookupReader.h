// Nodes of values that a kernel reads from computed places: slices, concatenations, lookups by index, windows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/ValueGraph.h"

namespace halftone::compiler {

/// Makes the nodes of a graph that read an operand of the kernel where a computed index says, and counts the extents and
/// starts of the axes that they read among the graph's numbers.
class LookupReader {
public:
  explicit LookupReader(ValueGraph &graph) : graph(graph) {}

  /// The node of the result of `op`, for which isLookup() holds, at `access`; null on failure, as of ValueGraph::get().
  ValueNode *read(mlir::Operation *op, llvm::ArrayRef<int> access);
  /// The index that `value` holds at `access`, clamped to an axis of this extent, if one is given.
  ValueNode *index(mlir::Value value, llvm::ArrayRef<int> access, std::optional<int64_t> extent);

private:
  ValueNode *slice(dialect::SliceOp op, llvm::ArrayRef<int> access);
  ValueNode *gather(dialect::GatherOp op, llvm::ArrayRef<int> access);
  ValueNode *concat(dialect::ConcatOp op, llvm::ArrayRef<int> access);
  ValueNode *window(dialect::WindowOp op, llvm::ArrayRef<int> access);
  ValueNode *lookup(mlir::Value x, llvm::SmallVector<LookupAxis, 3> position);
  int number(int64_t value);

  ValueGraph &graph;
};

} // namespace halftone::compiler
