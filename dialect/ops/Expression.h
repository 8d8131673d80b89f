// Builder of Halftone ops as expressions, used to define gradients.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::dialect {

/// Creates ops at the builder's insertion point, all with the same location. As with any builder, the caller ensures
/// that operand types match.
class Expression {
public:
  Expression(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// A splat of `value`, rounded to the element type.
  mlir::Value splat(mlir::Type tensorType, double value);
  /// A rounding cast of `value`, or `value` itself if it already has that element type.
  mlir::Value cast(mlir::Value value, mlir::Type elementType, llvm::StringRef origin);
  mlir::Value compare(ComparePredicate predicate, mlir::Value lhs, mlir::Value rhs);
  /// Broadcasts along the axes of `tensorType` that are not in `keptAxes`.
  mlir::Value broadcast(mlir::Value value, mlir::Type tensorType, llvm::ArrayRef<int64_t> keptAxes);
  /// Sums over `axes`, into elements of `elementType`.
  mlir::Value sum(mlir::Value value, llvm::ArrayRef<int64_t> axes, mlir::Type elementType);
  /// Transposes: axis i of the result is axis `permutation[i]`. The identity returns `value`.
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);

  mlir::Value neg(mlir::Value x) { return NegOp::create(builder, loc, x); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return AddOp::create(builder, loc, a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return SubOp::create(builder, loc, a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return MulOp::create(builder, loc, a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return DivOp::create(builder, loc, a, b); }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, splat(a.getType(), b)); }
  mlir::Value select(mlir::Value p, mlir::Value a, mlir::Value b) { return SelectOp::create(builder, loc, p, a, b); }
  mlir::Value sqrt(mlir::Value x) { return SqrtOp::create(builder, loc, x); }
  mlir::Value add(mlir::Value a, double b) { return add(a, splat(a.getType(), b)); }
  mlir::Value sub(double a, mlir::Value b) { return sub(splat(b.getType(), a), b); }
  mlir::Value zeroUnless(mlir::Value p, mlir::Value a) { return select(p, a, splat(a.getType(), 0.0)); }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// The axes below `rank` that are not in `axes`, ascending.
llvm::SmallVector<int64_t> otherAxes(int64_t rank, llvm::ArrayRef<int64_t> axes);

} // namespace halftone::dialect
