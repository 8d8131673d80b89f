// The body of a generic: scalar ops from nodes of the value graph.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/GenericBody.h"
#include "compiler/forms/SortKey.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/NarrowFloat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/APFloat.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

TypedAttr elementAt(DenseElementsAttr elements, int64_t number, Type type) {
  if (isa<FloatType>(type)) {
    APFloat value = *(elements.value_begin<APFloat>() + number);
    bool losesInfo = false;
    value.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return FloatAttr::get(type, value);
  }
  return IntegerAttr::get(type, *(elements.value_begin<APInt>() + number));
}

AffineMap GenericBody::map(ArrayRef<int> access, int element) const {
  MLIRContext *context = loc.getContext();
  SmallVector<AffineExpr> results;
  if (element >= 0)
    results.push_back(getAffineConstantExpr(element, context));
  for (int dim : access)
    results.push_back(dim == noDim ? getAffineConstantExpr(0, context)
                                   : getAffineDimExpr(llvm::find(dims, dim) - dims.begin(), context));
  return AffineMap::get(dims.size(), 0, results, context);
}

void GenericBody::addInput(ValueNode *node, Value tensor, ArrayRef<int> access, int element) {
  AffineMap inputMap = map(access, element);
  for (auto [number, input] : llvm::enumerate(inputs))
    if (input.tensor == tensor && input.map == inputMap) {
      inputOf[node] = number;
      return;
    }
  inputOf[node] = inputs.size();
  inputs.push_back({tensor, inputMap});
}

Value GenericBody::constant(TypedAttr value) { return arith::ConstantOp::create(*builder, loc, value); }
Value GenericBody::constant(Type type, int64_t value) { return constant(builder->getIntegerAttr(type, value)); }

Value GenericBody::linearIndex(ArrayRef<int> access) {
  Type i64 = builder->getI64Type();
  Value linear;
  for (int dim : access) {
    Value index = linalg::IndexOp::create(*builder, loc, llvm::find(dims, dim) - dims.begin());
    index = arith::IndexCastOp::create(*builder, loc, i64, index);
    if (linear)
      index = arith::AddIOp::create(*builder, loc, arith::MulIOp::create(*builder, loc, linear, extents[dim]), index);
    linear = index;
  }
  return linear ? linear : constant(i64, 0);
}

Value GenericBody::random(ValueNode *node) {
  Type i32 = builder->getI32Type(), i64 = builder->getI64Type();
  auto multiply = [&](Value a, Value b) -> Value { return arith::MulIOp::create(*builder, loc, a, b); };
  auto exclusiveOr = [&](Value a, Value b) -> Value { return arith::XOrIOp::create(*builder, loc, a, b); };
  auto low = [&](Value a) -> Value { return arith::TruncIOp::create(*builder, loc, i32, a); };
  Value shift = constant(i64, 32);
  auto high = [&](Value a) -> Value { return low(arith::ShRUIOp::create(*builder, loc, a, shift)); };

  Value linear = linearIndex(node->access);
  Value group = arith::ShRUIOp::create(*builder, loc, linear, constant(i64, 2));
  Value zero = constant(i32, 0);
  std::array<Value, 4> counter{low(group), high(group), zero, zero};
  std::array<Value, 2> key{emit(node->inputs[0]), emit(node->inputs[1])};
  std::array<Value, 2> factors{constant(i64, 0xD2511F53), constant(i64, 0xCD9E8D57)};
  std::array<Value, 2> weyl{constant(i32, int32_t(0x9E3779B9)), constant(i32, int32_t(0xBB67AE85))};
  auto product = [&](Value factor, Value word) {
    return multiply(factor, arith::ExtUIOp::create(*builder, loc, i64, word));
  };
  for (int round = 0; round < 10; ++round) {
    Value first = product(factors[0], counter[0]), second = product(factors[1], counter[2]);
    counter = {exclusiveOr(exclusiveOr(high(second), counter[1]), key[0]), low(second),
               exclusiveOr(exclusiveOr(high(first), counter[3]), key[1]), low(first)};
    for (int half = 0; half < 2; ++half)
      key[half] = arith::AddIOp::create(*builder, loc, key[half], weyl[half]);
  }
  Value word = low(arith::AndIOp::create(*builder, loc, linear, constant(i64, 3)));
  Value result = counter[0];
  for (int which = 1; which < 4; ++which) {
    Value is = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::eq, word, constant(i32, which));
    result = arith::SelectOp::create(*builder, loc, is, counter[which], result);
  }
  return result;
}

Value GenericBody::convertedIndex(ValueNode *node) {
  Value linear = linearIndex(node->access);
  if (isa<FloatType>(node->type))
    return arith::SIToFPOp::create(*builder, loc, node->type, linear);
  if (node->type.isInteger(64))
    return linear;
  return arith::TruncIOp::create(*builder, loc, node->type, linear);
}

Value GenericBody::splatOrTable(ValueNode *node) {
  auto op = dyn_cast_if_present<ConstantOp>(node->op);
  if (!op)
    return constant(builder->getZeroAttr(node->type));
  auto elements = cast<DenseElementsAttr>(op.getValue());
  Value result = constant(elementAt(elements, 0, node->type));
  if (node->kind == ValueNode::splat)
    return result;
  Value linear = linearIndex(node->access);
  for (int64_t number = 1; number < elements.getNumElements(); ++number) {
    Value is =
        arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::eq, linear, constant(builder->getI64Type(), number));
    result = arith::SelectOp::create(*builder, loc, is, constant(elementAt(elements, number, node->type)), result);
  }
  return result;
}

Value GenericBody::throughNarrow(Value value, Type narrow) {
  Value rounded = arith::TruncFOp::create(*builder, loc, narrow, value);
  return arith::ExtFOp::create(*builder, loc, Float32Type::get(loc.getContext()), rounded);
}

/// A cast to a narrow float from any type but f32: rounds once, from a type that holds the source exactly.
Value GenericBody::castToNarrow(CastOp op, Value x) {
  Type narrow = elementTypeOf(op.getResult());
  Type source = elementTypeOf(op.getX());
  Type f32 = builder->getF32Type(), f64 = builder->getF64Type();
  if (source.isInteger(1)) {
    x = arith::UIToFPOp::create(*builder, loc, f32, x);
  } else if (isa<IntegerType>(source)) {
    Type wide = source.getIntOrFloatBitWidth() > 16 ? f64 : f32;
    if (source.isUnsignedInteger())
      x = arith::UIToFPOp::create(*builder, loc, wide, x);
    else
      x = arith::SIToFPOp::create(*builder, loc, wide, x);
  }
  if (op.getSaturate()) {
    auto wide = cast<FloatType>(x.getType());
    APFloat largest = APFloat::getLargest(cast<FloatType>(narrow).getFloatSemantics());
    bool losesInfo = false;
    largest.convert(wide.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    Value bound = constant(FloatAttr::get(wide, largest)), negated = constant(FloatAttr::get(wide, -largest));
    auto clamp = [&](arith::CmpFPredicate predicate, Value limit) {
      Value beyond = arith::CmpFOp::create(*builder, loc, predicate, x, limit);
      x = arith::SelectOp::create(*builder, loc, beyond, limit, x);
    };
    clamp(arith::CmpFPredicate::OGT, bound);
    clamp(arith::CmpFPredicate::OLT, negated);
  }
  return throughNarrow(x, narrow);
}

/// A float that varies along the vector dim, divided by a value that a reduction computed for the row.
bool GenericBody::isQuotientOfRow(ValueNode *node) const {
  if (!numerics.mayFuse() || !isa<DivOp>(node->op) || !isa<FloatType>(node->type) || dims.empty())
    return false;
  const ValueNode *divisor = node->inputs[1];
  return divisor->level > 0 && !divisor->dims.test(dims.back()) && node->inputs[0]->dims.test(dims.back());
}

/// x * (1 / y), whose error is one ulp larger than that of x / y. Very large and very small divisors are scaled first,
/// so that the reciprocal neither overflows nor is subnormal.
Value GenericBody::productWithReciprocal(Value x, Value y) {
  auto number = [&](double value) { return constant(builder->getFloatAttr(x.getType(), value)); };
  auto when = [&](arith::CmpFPredicate predicate, Value a, double b, Value yes, Value no) -> Value {
    Value is = arith::CmpFOp::create(*builder, loc, predicate, a, number(b));
    return arith::SelectOp::create(*builder, loc, is, yes, no);
  };
  auto multiply = [&](Value a, Value b) -> Value { return arith::MulFOp::create(*builder, loc, a, b); };
  Value size = math::AbsFOp::create(*builder, loc, y);
  Value scale = when(arith::CmpFPredicate::OGT, size, 0x1p64, number(0x1p-64),
                     when(arith::CmpFPredicate::OLT, size, 0x1p-64, number(0x1p64), number(1)));
  Value reciprocal = arith::DivFOp::create(*builder, loc, number(1), multiply(y, scale));
  return multiply(multiply(x, scale), reciprocal);
}

Value GenericBody::compute(ValueNode *node) {
  SmallVector<Value> operands;
  for (ValueNode *operand : node->inputs)
    operands.push_back(emit(operand));
  if (auto cast = dyn_cast<CastOp>(node->op))
    if (isNarrowFloat(elementTypeOf(cast.getResult())) && arithmeticType(elementTypeOf(cast.getX())) != node->type)
      return castToNarrow(cast, operands[0]);
  if (isQuotientOfRow(node))
    return productWithReciprocal(operands[0], operands[1]);
  Block *block = builder->getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  Value result = cast<ElementwiseOpInterface>(node->op).buildScalar(*builder, loc, operands);
  if (numerics.mayFuse())
    for (Operation &op : llvm::make_range(last ? std::next(last->getIterator()) : block->begin(), block->end()))
      if (isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(op))
        op.setAttr("fastmath", arith::FastMathFlagsAttr::get(loc.getContext(), arith::FastMathFlags::contract));
  return result;
}

Value GenericBody::widened(ValueNode *node, Value value) {
  return isNarrowFloat(value.getType()) ? arith::ExtFOp::create(*builder, loc, node->type, value).getResult() : value;
}

Value GenericBody::emit(ValueNode *node) {
  if (auto it = values.find(node); it != values.end())
    return it->second;
  Value value;
  if (auto it = inputOf.find(node); it != inputOf.end()) {
    value = widened(node, block->getArgument(it->second));
  } else {
    switch (node->kind) {
    case ValueNode::splat:
    case ValueNode::table:
      value = splatOrTable(node);
      break;
    case ValueNode::index:
      value = convertedIndex(node);
      break;
    case ValueNode::random:
      value = random(node);
      break;
    case ValueNode::round:
      value = throughNarrow(emit(node->inputs[0]), node->exact);
      break;
    case ValueNode::compute:
      value = compute(node);
      break;
    case ValueNode::clamp:
      value = emit(node->inputs[0]);
      if (!value.getType().isInteger(64))
        value = arith::ExtSIOp::create(*builder, loc, node->type, value);
      if (node->argument >= 0)
        value = lookups.clamped(value, node->argument);
      break;
    case ValueNode::lookup:
      value = widened(node, lookups.element(node));
      break;
    case ValueNode::concat:
      value = widened(node, lookups.concat(node));
      break;
    case ValueNode::sortKey:
      value = buildSortKey(*builder, loc, cast<SortOp>(node->op), emit(node->inputs[0]));
      break;
    case ValueNode::hit:
      value = hit(node, [&] { return constant(neutralElement(node->combiner, node->type)); });
      break;
    case ValueNode::provided:
    case ValueNode::load:
    case ValueNode::reduce:
    case ValueNode::argReduce:
    case ValueNode::contract:
      break; // always an input
    }
  }
  return values[node] = value;
}

Value GenericBody::hit(ValueNode *node, llvm::function_ref<Value()> otherwise) {
  Value update = emit(node->inputs[1]), other = otherwise();
  Value isHere =
      arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::eq, emit(node->inputs[0]), linearIndex(node->access));
  return arith::SelectOp::create(*builder, loc, isHere, update, other);
}

Value GenericBody::stored(ValueNode *node, Type element) {
  Value value = emit(node);
  if (value.getType() == element)
    return value;
  if (auto widened = value.getDefiningOp<arith::ExtFOp>(); widened && widened.getIn().getType() == element)
    return widened.getIn();
  return arith::TruncFOp::create(*builder, loc, element, value);
}

} // namespace halftone::compiler
