// The integer keys by which a sort orders elements.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/SortKey.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// The bits of a float of 32 or 64 bits as a signed integer in the same order; -0 is 0, and NaN the largest integer.
Value orderedBits(OpBuilder &builder, Location loc, Value x, Type key) {
  const unsigned width = key.getIntOrFloatBitWidth();
  const auto number = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(key, value));
  };
  const Value bits = arith::BitcastOp::create(builder, loc, key, x), zero = number(APInt::getZero(width));
  const Value magnitude = arith::AndIOp::create(builder, loc, bits, number(APInt::getSignedMaxValue(width)));
  const Value isNegative = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, bits, zero);
  const Value negated = arith::SubIOp::create(builder, loc, zero, magnitude);
  const Value ordered = arith::SelectOp::create(builder, loc, isNegative, negated, magnitude);
  const Value isNan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(builder, loc, isNan, number(APInt::getSignedMaxValue(width)), ordered);
}

} // namespace

Type sortKeyType(SortOp sort) {
  return IntegerType::get(sort.getContext(), elementTypeOf(sort.getX()).getIntOrFloatBitWidth() == 64 ? 64 : 32);
}

Value buildSortKey(OpBuilder &builder, Location loc, SortOp sort, Value x) {
  const Type element = elementTypeOf(sort.getX()), key = sortKeyType(sort);
  const unsigned width = key.getIntOrFloatBitWidth();
  const bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  if (isa<FloatType>(element))
    x = orderedBits(builder, loc, x, key);
  else if (x.getType() != key && isUnsigned)
    x = arith::ExtUIOp::create(builder, loc, key, x);
  else if (x.getType() != key)
    x = arith::ExtSIOp::create(builder, loc, key, x);
  APInt flipped = isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  if (sort.getDescending())
    flipped.flipAllBits();
  if (flipped.isZero())
    return x;
  return arith::XOrIOp::create(builder, loc, x,
                               arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(key, flipped)));
}

} // namespace halftone::compiler
