// Storage of narrow floats and bools as integers.
// SPDX-License-Identifier: Apache-2.0
//
//   linalg.generic ins(%x : tensor<?xf16>) outs(%y : tensor<?xf16>) {
//   ^bb0(%a: f16, %o: f16):                              ^bb0(%a: i16, %o: i16):
//     %w = arith.extf %a : f16 to f32          becomes     %h = arith.bitcast %a : i16 to f16   (or integer code)
//     ...                                                  %w = arith.extf %h : f16 to f32 ...
#include "compiler/kernels/NarrowFloat.h"
#include "compiler/kernels/Steps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// The storage type: tensors of narrow floats and of i1, and scalar narrow floats, become integers. A scalar i1 is
/// kept.
Type stored(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    const Type element = tensor.getElementType();
    return tensor.clone(element.isInteger(1) ? Type(IntegerType::get(type.getContext(), 8)) : stored(element));
  }
  return isNarrowFloat(type) ? Type(IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth())) : type;
}

bool touchesNarrow(Operation *op) {
  const auto narrow = [](Type type) { return isNarrowFloat(type); };
  return llvm::any_of(op->getOperandTypes(), narrow) || llvm::any_of(op->getResultTypes(), narrow);
}

/// A conversion from or to a narrow float, with the types before the function is retyped.
struct Conversion {
  Operation *op;
  FloatType from, to;
};

LogicalResult legalizeConstant(arith::ConstantOp op) {
  auto value = dyn_cast<FloatAttr>(op.getValue());
  if (!value)
    return op.emitError("constant of a narrow float that is not a scalar");
  const IntegerAttr bits = IntegerAttr::get(stored(value.getType()), value.getValue().bitcastToAPInt());
  op.getResult().setType(bits.getType());
  op.setValueAttr(bits);
  return success();
}

void legalizeConversion(const Conversion &conversion, const MathTraits &math) {
  ImplicitLocOpBuilder builder(conversion.op->getLoc(), conversion.op);
  Emitted value(builder, conversion.op->getOperand(0));
  if (isNarrowFloat(conversion.from))
    value = widenNarrow(math, value, conversion.from);
  value = isNarrowFloat(conversion.to) ? narrowFloat(math, value, conversion.to) : value.extend(conversion.to);
  conversion.op->getResult(0).replaceAllUsesWith(value);
  conversion.op->erase();
}

/// Adapts the body of a linalg op whose tensors of i1 become bytes.
void legalizeBools(linalg::LinalgOp op) {
  Block &body = op->getRegion(0).front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  const Type byte = builder.getI8Type();
  if (isa<linalg::FillOp>(op.getOperation())) {
    // The body only yields its operand.
    builder.setInsertionPoint(op);
    OpOperand &value = op->getOpOperand(0);
    if (value.get().getType().isInteger(1))
      value.set(arith::ExtUIOp::create(builder, op.getLoc(), byte, value.get()));
    for (BlockArgument argument : body.getArguments())
      if (argument.getType().isInteger(1))
        argument.setType(byte);
    return;
  }
  for (BlockArgument argument : body.getArguments()) {
    if (!argument.getType().isInteger(1))
      continue;
    argument.setType(byte);
    if (argument.use_empty())
      continue;
    auto zero = arith::ConstantOp::create(builder, op.getLoc(), builder.getI8IntegerAttr(0));
    auto flag = arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::ne, argument, zero);
    argument.replaceAllUsesExcept(flag, flag);
  }
  for (auto extract : llvm::make_early_inc_range(body.getOps<tensor::ExtractOp>())) {
    if (!extract.getType().isInteger(1))
      continue;
    extract.getResult().setType(byte);
    builder.setInsertionPointAfter(extract);
    auto zero = arith::ConstantOp::create(builder, op.getLoc(), builder.getI8IntegerAttr(0));
    auto flag = arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::ne, extract, zero);
    extract.getResult().replaceAllUsesExcept(flag, flag);
  }
  Operation *yield = body.getTerminator();
  builder.setInsertionPoint(yield);
  for (OpOperand &operand : yield->getOpOperands())
    if (operand.get().getType().isInteger(1))
      operand.set(arith::ExtUIOp::create(builder, op.getLoc(), byte, operand.get()));
}

} // namespace

LogicalResult compiler::legalizeStorage(func::FuncOp function, const MathTraits &math) {
  SmallVector<Conversion> conversions;
  SmallVector<arith::ConstantOp> constants;
  SmallVector<linalg::LinalgOp> loops;
  const WalkResult seen = function.walk([&](Operation *op) {
    if (auto loop = dyn_cast<linalg::LinalgOp>(op))
      loops.push_back(loop);
    if (!touchesNarrow(op) || isa<linalg::YieldOp, linalg::FillOp, arith::SelectOp, tensor::ExtractOp>(op))
      return WalkResult::advance();
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      conversions.push_back(
          {op, dyn_cast<FloatType>(op->getOperand(0).getType()), dyn_cast<FloatType>(op->getResult(0).getType())});
    else if (auto constant = dyn_cast<arith::ConstantOp>(op))
      constants.push_back(constant);
    else {
      op->emitError() << "'" << op->getName() << "' on a narrow float; expected arithmetic in f32 or f64";
      return WalkResult::interrupt();
    }
    if (!conversions.empty() && conversions.back().op == op && (!conversions.back().from || !conversions.back().to)) {
      op->emitError() << "expected a conversion between scalar types";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (seen.wasInterrupted())
    return failure();

  for (arith::ConstantOp constant : constants)
    if (failed(legalizeConstant(constant)))
      return failure();
  function.walk([](Operation *op) {
    for (Value result : op->getResults())
      result.setType(stored(result.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(stored(argument.getType()));
  });
  SmallVector<Type> inputs(function.getBody().getArgumentTypes()), results;
  for (Type type : function.getResultTypes())
    results.push_back(stored(type));
  function.setType(FunctionType::get(function.getContext(), inputs, results));
  for (const Conversion &conversion : conversions)
    legalizeConversion(conversion, math);
  for (linalg::LinalgOp loop : loops)
    legalizeBools(loop);
  return success();
}
