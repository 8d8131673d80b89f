// Halftone ops written as expressions: the language in which gradients are stated.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::dialect {

/// Creates ops at the builder's insertion point, all with one location. The caller makes sure that operand types fit,
/// as with any builder.
class Expression {
public:
  Expression(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// Every element `value`, rounded to the element type.
  mlir::Value splat(mlir::Type tensorType, double value);
  /// `value` itself when it has that element type already, else a rounding cast.
  mlir::Value cast(mlir::Value value, mlir::Type elementType, llvm::StringRef origin);
  mlir::Value compare(ComparePredicate predicate, mlir::Value lhs, mlir::Value rhs);
  /// Repeats along the axes that are in `tensorType` but not in `keptAxes`.
  mlir::Value broadcast(mlir::Value value, mlir::Type tensorType, llvm::ArrayRef<int64_t> keptAxes);
  /// Sums over `axes`, into elements of `elementType`.
  mlir::Value sum(mlir::Value value, llvm::ArrayRef<int64_t> axes, mlir::Type elementType);
  /// Axis i of the result is axis `permutation[i]`; the identity gives `value`.
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
