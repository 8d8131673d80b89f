// The part that each value of a row kernel plays: of the whole shape, one a row, the same for each row, or one for all.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/KernelBody.h"
#include "llvm/ADT/DenseMap.h"

namespace halftone::compiler {

enum class RowRole : uint8_t { unknown, full, outer, inner, scalar };

/// Shapes settle most roles, neighbours the rest.
class RowRoles {
public:
  RowRoles(llvm::ArrayRef<int64_t> shape, int64_t outerRank)
      : shape(shape), outer(shape.take_front(outerRank)), inner(shape.drop_front(outerRank)) {}

  /// False when a value would have two roles.
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
