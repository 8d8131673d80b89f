// Creates nodes for values that a kernel reads at computed indices: slices, concatenations, gathers, windows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/ValueGraph.h"

namespace halftone::compiler {

/// Creates the graph nodes that read an operand of the kernel at computed indices, and registers the extents and starts
/// of the axes that they read as lookup arguments of the graph.
class LookupReader {
public:
  explicit LookupReader(ValueGraph &graph) : graph(graph) {}

  /// Returns the node of the result of `op`, for which isLookup() holds, at `access`; null on failure, as
  /// ValueGraph::get() does.
  ValueNode *read(mlir::Operation *op, llvm::ArrayRef<int> access);
  /// Returns the index that `value` holds at `access`, clamped to an axis of the given extent, if any.
  ValueNode *index(mlir::Value value, llvm::ArrayRef<int> access, std::optional<int64_t> extent);

private:
  ValueNode *slice(dialect::SliceOp op, llvm::ArrayRef<int> access);
  ValueNode *gather(dialect::GatherOp op, llvm::ArrayRef<int> access);
  ValueNode *concat(dialect::ConcatOp op, llvm::ArrayRef<int> access);
  ValueNode *window(dialect::WindowOp op, llvm::ArrayRef<int> access);
  ValueNode *lookup(mlir::Value x, llvm::SmallVector<LookupAxis, 3> position);
  int lookupArgument(int64_t value);

  ValueGraph &graph;
};

} // namespace halftone::compiler
