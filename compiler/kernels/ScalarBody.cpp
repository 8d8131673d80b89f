// Cloning a generic's body at scalar or vector type.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/ScalarBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

Type atLanes(Type type, int64_t lanes) {
  if (isa<IndexType>(type))
    type = IntegerType::get(type.getContext(), 64);
  return lanes > 0 ? VectorType::get(lanes, type) : type;
}

FailureOr<SmallVector<Value>> cloneBody(OpBuilder &builder, linalg::GenericOp generic, const BodyArguments &arguments,
                                        const IRMapping &outer) {
  Location loc = generic.getLoc();
  IRMapping mapping;
  Block *body = generic.getBody();
  for (auto [argument, value] : llvm::zip(body->getArguments(), arguments.values))
    mapping.map(argument, value);

  auto operandOf = [&](Value value) -> Value {
    if (mapping.contains(value))
      return mapping.lookup(value);
    Value scalar = outer.lookupOrDefault(value);
    if (arguments.lanes > 0 && !isa<VectorType>(scalar.getType()))
      scalar = vector::BroadcastOp::create(builder, loc, atLanes(scalar.getType(), arguments.lanes), scalar);
    mapping.map(value, scalar);
    return scalar;
  };
  for (Operation &op : body->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(index.getResult(), arguments.index(index.getDim()));
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      TypedAttr value = constant.getValue();
      if (arguments.lanes > 0)
        value = DenseElementsAttr::get(cast<ShapedType>(atLanes(value.getType(), arguments.lanes)), Attribute(value));
      mapping.map(constant.getResult(), arith::ConstantOp::create(builder, loc, value).getResult());
      continue;
    }
    if (isa<arith::IndexCastOp>(op)) { // an index is an i64 here
      Value value = operandOf(op.getOperand(0));
      mapping.map(op.getResult(0), value);
      continue;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op); extract && arguments.lookup) {
      mapping.map(extract.getResult(), arguments.lookup(extract, operandOf(extract.getIndices()[0])));
      continue;
    }
    if (!op.hasTrait<OpTrait::Elementwise>() || op.getNumRegions() != 0)
      return op.emitError("has no vector form in a kernel's body");
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(operandOf(operand));
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(atLanes(type, arguments.lanes));
    OperationState state(loc, op.getName(), operands, types, op.getAttrs());
    Operation *clone = builder.create(state);
    mapping.map(op.getResults(), clone->getResults());
  }
  SmallVector<Value> yields;
  for (Value value : body->getTerminator()->getOperands())
    yields.push_back(operandOf(value));
  return yields;
}

} // namespace halftone::compiler
