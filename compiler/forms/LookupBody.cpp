// Reads at computed indices in the body of a generic.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/GenericBody.h"
#include "compiler/kernels/KernelForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

/// Marks the op that defines `value` as one that keeps the index of a window's tap inside the image.
static void markBound(Value value) {
  value.getDefiningOp()->setAttr(boundAttribute, UnitAttr::get(value.getContext()));
}

Value LookupBody::clamped(Value value, int argument) {
  OpBuilder &builder = *body.builder;
  const Location loc = body.loc;
  value = arith::MaxSIOp::create(builder, loc, value, body.constant(builder.getI64Type(), 0));
  Value last =
      arith::SubIOp::create(builder, loc, body.lookupArgument(argument), body.constant(builder.getI64Type(), 1));
  return arith::MinSIOp::create(builder, loc, value, last);
}

/// Returns the index along one axis, clamped if it may leave the axis. For an axis of a window, `inside`, which may be
/// null, is extended by the condition that this index did not leave the axis.
Value LookupBody::indexOf(const LookupAxis &axis, Value &inside) {
  OpBuilder &builder = *body.builder;
  const Location loc = body.loc;
  auto multiply = [&](Value value, int64_t factor) -> Value {
    return factor == 1 ? value
                       : arith::MulIOp::create(builder, loc, value, body.constant(builder.getI64Type(), factor));
  };
  auto also = [&](Value condition) {
    inside = inside ? arith::AndIOp::create(builder, loc, inside, condition).getResult() : condition;
  };
  Value index = axis.index ? body.emit(axis.index) : body.linearIndex(axis.dims);
  if (axis.window) {
    Value taps = multiply(body.linearIndex(axis.window->taps), axis.window->dilation);
    index = arith::AddIOp::create(builder, loc, multiply(index, axis.window->stride), taps);
  }
  if (axis.start >= 0)
    index = arith::AddIOp::create(builder, loc, index, body.lookupArgument(axis.start));
  if (axis.window && axis.window->baseDilation != 1) {
    Value baseDilation = body.constant(builder.getI64Type(), axis.window->baseDilation);
    Value whole = arith::DivSIOp::create(builder, loc, index, baseDilation);
    Value back = arith::MulIOp::create(builder, loc, whole, baseDilation);
    also(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, back, index));
    index = whole;
  }
  if (!axis.window)
    return axis.clamped ? clamped(index, axis.extent) : index;
  if (axis.window->inside)
    return index;
  Value isInside =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, body.lookupArgument(axis.extent));
  Value kept = clamped(index, axis.extent);
  if (axis.window->baseDilation == 1) {
    markBound(isInside);
    markBound(kept);
    markBound(kept.getDefiningOp()->getOperand(0)); // the other clamp
  }
  also(isInside);
  return kept;
}

Value LookupBody::element(ValueNode *node) {
  OpBuilder &builder = *body.builder;
  const Location loc = body.loc;
  Value linear, inside;
  for (const LookupAxis &axis : node->position) {
    if (!linear && !axis.index && !axis.window && axis.dims.empty() && axis.start < 0)
      continue; // extent 1
    Value here = indexOf(axis, inside);
    if (linear)
      here = arith::AddIOp::create(builder, loc,
                                   arith::MulIOp::create(builder, loc, linear, body.lookupArgument(axis.extent)), here);
    linear = here;
  }
  linear = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), linear);
  Value read = tensor::ExtractOp::create(builder, loc, lookedUp.at(node), linear);
  if (!inside)
    return read;
  Value fill = body.constant(elementAt(cast<WindowOp>(node->op).getFill(), 0, read.getType()));
  return arith::SelectOp::create(builder, loc, inside, read, fill);
}

Value LookupBody::concat(ValueNode *node) {
  OpBuilder &builder = *body.builder;
  const Location loc = body.loc;
  Type stored = storedType(elementTypeOf(node->op->getResult(0)));
  auto at = [&](ValueNode *input) -> Value {
    if (input->kind == ValueNode::lookup)
      return element(input);
    return body.constant(elementAt(cast<DenseElementsAttr>(cast<ConstantOp>(input->op).getValue()), 0, stored));
  };
  Value linear = body.linearIndex(node->access), result = at(node->inputs[0]);
  for (auto [input, start] : llvm::zip(ArrayRef(node->inputs).drop_front(), node->starts)) {
    Value isHere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, linear, body.lookupArgument(start));
    result = arith::SelectOp::create(builder, loc, isHere, at(input), result);
  }
  return result;
}

} // namespace halftone::compiler
