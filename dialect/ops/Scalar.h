// Builder of arith ops on scalars or vectors, used to define scalar bodies.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/TypeInference.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

namespace halftone::dialect {

class Scalar {
public:
  Scalar(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// `element`, or a vector of it if `value` is a vector.
  mlir::Type like(mlir::Value value, mlir::Type element) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(value.getType());
    return vector ? mlir::Type(vector.cloneWith(std::nullopt, element)) : element;
  }
  mlir::Value constant(mlir::Type type, mlir::TypedAttr value) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      value = mlir::DenseElementsAttr::get(vector, mlir::Attribute(value));
    return mlir::arith::ConstantOp::create(builder, loc, value);
  }
  /// `value` as a constant of the float type of `x`.
  mlir::Value real(mlir::Value x, double value) {
    return constant(x.getType(), builder.getFloatAttr(mlir::getElementTypeOrSelf(x.getType()), value));
  }
  mlir::Value integer(mlir::Type type, const llvm::APInt &value) {
    return constant(type, mlir::IntegerAttr::get(mlir::getElementTypeOrSelf(type), value));
  }
  /// `value` as a constant of the signless integer type of `x`.
  mlir::Value whole(mlir::Value x, int64_t value) {
    mlir::Type element = mlir::getElementTypeOrSelf(x.getType());
    return integer(x.getType(), llvm::APInt(element.getIntOrFloatBitWidth(), value, true, true));
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  mlir::Value both(mlir::Value a, mlir::Value b) { return mlir::arith::AndIOp::create(builder, loc, a, b); }
  mlir::Value either(mlir::Value a, mlir::Value b) { return mlir::arith::OrIOp::create(builder, loc, a, b); }
  mlir::Value select(mlir::Value p, mlir::Value a, mlir::Value b) {
    return mlir::arith::SelectOp::create(builder, loc, p, a, b);
  }
  template <class OpT> mlir::Value op(mlir::Value x) { return OpT::create(builder, loc, x); }
  template <class OpT> mlir::Value op(mlir::Value a, mlir::Value b) { return OpT::create(builder, loc, a, b); }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace halftone::dialect
