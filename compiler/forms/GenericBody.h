// The body of a linalg.generic under construction: its inputs, and scalar ops built from nodes of the value graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/LookupBody.h"

namespace halftone::compiler {

/// Returns element `number` of a constant, converted to `type`.
mlir::TypedAttr elementAt(mlir::DenseElementsAttr elements, int64_t number, mlir::Type type);

class GenericBody {
public:
  struct Input {
    mlir::Value tensor;
    mlir::AffineMap map;
  };

  /// The body of a generic over `dims`, in a kernel with `space` dims.
  GenericBody(int space, llvm::ArrayRef<int> dims, mlir::Location loc, Numerics numerics)
      : loc(loc), lookups(*this), space(space), dims(dims.begin(), dims.end()), numerics(numerics) {}
  GenericBody(const GenericBody &) = delete;

  /// Returns the map of an access over the generic's dims. `element` >= 0 prepends a constant index.
  mlir::AffineMap map(llvm::ArrayRef<int> access, int element = -1) const;
  /// Makes `node` a block argument: `tensor` at `access`.
  void addInput(ValueNode *node, mlir::Value tensor, llvm::ArrayRef<int> access, int element = -1);
  /// From now on values are emitted at the end of `block`. `extents` holds the extents of all dims, then the lookup
  /// arguments of the graph, as i64; entries that the body does not need may be null.
  void begin(mlir::OpBuilder &bodyBuilder, llvm::ArrayRef<mlir::Value> dimExtents) {
    builder = &bodyBuilder;
    block = bodyBuilder.getInsertionBlock();
    extents = dimExtents;
  }

  mlir::Value emit(ValueNode *node);
  /// The node's value as an element of a tensor, narrowed if the element type is narrower.
  mlir::Value stored(ValueNode *node, mlir::Type element);
  /// The update of `node`, a hit, where its index names the element; elsewhere `otherwise`.
  mlir::Value hit(ValueNode *node, llvm::function_ref<mlir::Value()> otherwise);
  /// The row-major linear index over `access`, as i64.
  mlir::Value linearIndex(llvm::ArrayRef<int> access);
  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value constant(mlir::Type type, int64_t value);
  /// A lookup argument of the graph, as i64.
  mlir::Value lookupArgument(int argument) { return extents[space + argument]; }

  const mlir::Location loc;
  llvm::SmallVector<Input> inputs;
  LookupBody lookups;
  mlir::OpBuilder *builder = nullptr; // set by begin()

private:
  mlir::Value random(ValueNode *node);
  mlir::Value convertedIndex(ValueNode *node);
  mlir::Value splatOrTable(ValueNode *node);
  mlir::Value throughNarrow(mlir::Value value, mlir::Type narrow);
  mlir::Value castToNarrow(dialect::CastOp op, mlir::Value x);
  mlir::Value compute(ValueNode *node);
  bool isQuotientOfRow(ValueNode *node) const;
  mlir::Value productWithReciprocal(mlir::Value x, mlir::Value y);
  mlir::Value widened(ValueNode *node, mlir::Value value);

  int space;
  llvm::SmallVector<int> dims;
  Numerics numerics;
  std::map<ValueNode *, int> inputOf;
  std::map<ValueNode *, mlir::Value> values;
  mlir::Block *block = nullptr;
  llvm::ArrayRef<mlir::Value> extents;
};

} // namespace halftone::compiler
