// The role of each value of a row kernel: of the whole shape, one element per row, equal for all rows, or a scalar.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/KernelBody.h"
#include "llvm/ADT/DenseMap.h"

namespace halftone::compiler {

enum class RowRole : uint8_t { unknown, full, outer, inner, scalar };

/// Assigns a role to each value. Most roles follow from the shape, the others from the ops that connect the values.
class RowRoles {
public:
  RowRoles(llvm::ArrayRef<int64_t> shape, int64_t outerRank)
      : shape(shape), outer(shape.take_front(outerRank)), inner(shape.drop_front(outerRank)) {}

  /// Returns false if a value would have two roles.
  bool assign(const KernelBody &body);
  RowRole of(mlir::Value value);

private:
  llvm::ArrayRef<int64_t> shapeIn(RowRole role) const;
  bool set(mlir::Value value, RowRole role, bool &changed);
  bool visit(mlir::Operation *op, bool &changed);
  bool visitBroadcast(dialect::BroadcastOp op, bool &changed);

  llvm::ArrayRef<int64_t> shape, outer, inner;
  llvm::DenseMap<mlir::Value, RowRole> roles;
};

} // namespace halftone::compiler
