// Cloning a generic's body at scalar or vector type.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/ScalarBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

Type atLanes(Type type, int64_t lanes) {
  if (isa<IndexType>(type))
    type = IntegerType::get(type.getContext(), 64);
  return lanes > 0 ? VectorType::get(lanes, type) : type;
}

LogicalResult checkBody(linalg::GenericOp generic) {
  Block *body = generic.getBody();
  const auto isKnown = [&](Value value) {
    if (value.getParentBlock() == body)
      return true;
    Operation *from = value.getDefiningOp();
    return !from || isa<arith::ConstantOp, arith::IndexCastOp>(from);
  };
  for (Operation &op : *body) {
    const bool isRead = isa<linalg::IndexOp, linalg::YieldOp, arith::IndexCastOp, tensor::ExtractOp>(op);
    if (!isRead && (!op.hasTrait<OpTrait::Elementwise>() || op.getNumRegions() != 0) && !isa<arith::ConstantOp>(op))
      return op.emitError("the op cannot be vectorized in a kernel's body");
    if (!llvm::all_of(op.getOperands(), isKnown))
      return op.emitError("the op reads a value from outside the body; expected only launch arguments and constants");
  }
  return success();
}

/// Broadcasts `scalar` to all lanes.
static Value splatOf(OpBuilder &builder, Location loc, Value scalar, int64_t lanes) {
  auto type = cast<VectorType>(atLanes(scalar.getType(), lanes));
  if (auto constant = scalar.getDefiningOp<arith::ConstantOp>())
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(constant.getValue())));
  return vector::BroadcastOp::create(builder, loc, type, scalar);
}

Values cloneBody(CodeBuilder &builder, linalg::GenericOp generic, const BodyArguments &arguments,
                 const IRMapping &outer) {
  Location loc = generic.getLoc();
  IRMapping mapping, splats;
  Block *body = generic.getBody();
  for (auto [argument, value] : llvm::zip(body->getArguments(), arguments.values))
    mapping.map(argument, value.value());

  auto isVector = [](Value value) { return value && isa<VectorType>(value.getType()); };
  auto valueOf = [&](Value value) {
    return mapping.contains(value) ? mapping.lookup(value) : outer.lookupOrDefault(value);
  };
  auto vectorOf = [&](Value value) -> Value {
    Value scalar = valueOf(value);
    if (arguments.lanes == 0 || isVector(scalar))
      return scalar;
    if (Value known = splats.lookupOrNull(value))
      return known;
    Value splat = splatOf(builder, loc, scalar, arguments.lanes);
    splats.map(value, splat);
    return splat;
  };
  for (Operation &op : body->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(index.getResult(), arguments.index(index.getDim()).value());
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      mapping.map(constant.getResult(), arith::ConstantOp::create(builder, loc, constant.getValue()).getResult());
      continue;
    }
    if (isa<arith::IndexCastOp>(op)) { // indices are i64 here
      mapping.map(op.getResult(0), valueOf(op.getOperand(0)));
      continue;
    }
    if (isa<arith::SIToFPOp>(op) && isa<FloatType>(getElementTypeOrSelf(valueOf(op.getOperand(0))))) {
      mapping.map(op.getResult(0), valueOf(op.getOperand(0)));
      continue;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      const Emitted indices = builder.wrap(valueOf(extract.getIndices()[0]));
      mapping.map(extract.getResult(), arguments.lookup(extract, indices).value());
      continue;
    }
    const bool varies = llvm::any_of(op.getOperands(), [&](Value operand) { return isVector(valueOf(operand)); });
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(varies ? vectorOf(operand) : valueOf(operand));
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(atLanes(type, varies ? arguments.lanes : 0));
    OperationState state(loc, op.getName(), operands, types, op.getAttrs());
    Operation *clone = builder.create(state);
    mapping.map(op.getResults(), clone->getResults());
  }
  Values yields;
  for (Value value : body->getTerminator()->getOperands())
    yields.push_back(builder.wrap(vectorOf(value)));
  return yields;
}

} // namespace halftone::compiler
