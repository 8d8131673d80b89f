// The cast, and ops that create values without operands.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ops/Expression.h"
#include "dialect/ops/Scalar.h"

using namespace mlir;

namespace halftone::dialect {

LogicalResult CastOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  auto x = cast<RankedTensorType>(getX().getType()), y = cast<RankedTensorType>(getY().getType());
  if (!isa<FloatType>(x.getElementType()) || !isa<FloatType>(y.getElementType())) {
    gradients.push_back({});
    return success();
  }
  std::string origin = getOrigin().empty() ? "gradient" : ("gradient of " + getOrigin()).str();
  gradients.push_back(CastOp::create(builder, getLoc(), x, cotangents[0], CastKind::rounding, origin));
  return success();
}

bool CastOp::isDecision() {
  return isa<FloatType>(getElementTypeOrSelf(getX())) && !isa<FloatType>(getElementTypeOrSelf(getY()));
}

bool ConstantOp::isAlwaysCloned() {
  auto elements = dyn_cast<DenseElementsAttr>(getValue());
  return elements && elements.isSplat();
}

LogicalResult ConstantOp::verify() {
  auto elements = dyn_cast<DenseElementsAttr>(getValue());
  if (!elements)
    return emitOpError("value must be a dense attribute: a list of elements or a splat");
  if (!elements.isSplat() && elements.getNumElements() > 64)
    return emitOpError() << "lists at most 64 elements unless they are a splat, but got " << elements.getNumElements();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult IotaOp::verify() {
  int64_t rank = cast<RankedTensorType>(getResult().getType()).getRank(), axis = getAxis();
  if (axis < 0 || axis >= rank)
    return emitOpError() << "axis " << axis << " is out of range for a result of rank " << rank;
  return success();
}

LogicalResult RandomBitsOp::verify() {
  auto key = cast<RankedTensorType>(getKey().getType());
  if (key.getShape() != ArrayRef<int64_t>{2})
    return emitOpError() << "key must be tensor<2xui32>, but got " << key;
  return success();
}

// Converts the float `x`, of an arithmetic type, to the signless integer of width `width`: truncates, saturates, and
// maps NaN to 0.
static Value floatToInteger(Scalar &s, Value x, unsigned width, bool isUnsigned) {
  double low = isUnsigned ? 0.0 : -std::ldexp(1.0, width - 1), high = std::ldexp(1.0, isUnsigned ? width : width - 1);
  Value notLow = s.compare(arith::CmpFPredicate::OGE, x, s.real(x, low));
  Value notHigh = s.compare(arith::CmpFPredicate::OLT, x, s.real(x, high));
  Value inside = s.select(s.both(notLow, notHigh), x, s.real(x, 0.0));
  Type type = s.like(x, s.builder.getIntegerType(width));
  Value whole = isUnsigned ? Value(arith::FPToUIOp::create(s.builder, s.loc, type, inside))
                           : Value(arith::FPToSIOp::create(s.builder, s.loc, type, inside));
  APInt largest = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  APInt smallest = isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  Value tooHigh = s.compare(arith::CmpFPredicate::OGE, x, s.real(x, high));
  Value tooLow = s.compare(arith::CmpFPredicate::OLT, x, s.real(x, low));
  return s.select(tooHigh, s.integer(type, largest), s.select(tooLow, s.integer(type, smallest), whole));
}

// Rounds the f64 `x` to f32 with round-to-odd, so that rounding to a narrower float gives the same result as for `x`.
static Value roundToOdd(Scalar &s, Value x) {
  OpBuilder &b = s.builder;
  Type f32 = s.like(x, b.getF32Type()), i32 = s.like(x, b.getI32Type());
  Value nearest = arith::TruncFOp::create(b, s.loc, f32, x);
  Value back = arith::ExtFOp::create(b, s.loc, x.getType(), nearest);
  Value bits = arith::BitcastOp::create(b, s.loc, i32, nearest);
  Value inexact = s.compare(arith::CmpFPredicate::ONE, back, x);
  Value above =
      s.compare(arith::CmpFPredicate::OGT, math::AbsFOp::create(b, s.loc, back), math::AbsFOp::create(b, s.loc, x));
  Value toZero = arith::SubIOp::create(b, s.loc, bits, arith::ExtUIOp::create(b, s.loc, i32, above));
  Value odd = arith::OrIOp::create(b, s.loc, toZero, s.integer(i32, APInt(32, 1)));
  return arith::BitcastOp::create(b, s.loc, f32, s.select(inexact, odd, bits));
}

// Merges the low bits of a 64-bit integer into one sticky bit. Its f64 is then exact, and rounds to the same float as
// `x`.
static Value gatherLowBits(Scalar &s, Value x) {
  OpBuilder &b = s.builder;
  auto constant = [&](uint64_t value) { return s.integer(x.getType(), APInt(64, value)); };
  Value low = arith::AndIOp::create(b, s.loc, x, constant(0x7ff));
  Value high = arith::AndIOp::create(b, s.loc, x, constant(~uint64_t(0x7ff)));
  Value any = s.compare(arith::CmpIPredicate::ne, low, constant(0));
  return s.select(any, arith::OrIOp::create(b, s.loc, high, constant(0x800)), high);
}

static Value integerToFloat(Scalar &s, Value x, bool isUnsigned, Type target) {
  OpBuilder &b = s.builder;
  auto convert = [&](Value value, Type type) -> Value {
    if (isUnsigned)
      return arith::UIToFPOp::create(b, s.loc, s.like(x, type), value);
    return arith::SIToFPOp::create(b, s.loc, s.like(x, type), value);
  };
  unsigned width = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  if (isa<Float32Type, Float64Type>(target) || width <= 16)
    return convert(x, arithmeticType(target));
  if (width == 64) {
    // Beyond 2^53 in magnitude, low bits do not fit into f64.
    Value limit = s.integer(x.getType(), APInt(64, uint64_t(1) << 53));
    Value magnitude = x;
    if (!isUnsigned) {
      Value zero = s.integer(x.getType(), APInt(64, 0));
      Value negative = s.compare(arith::CmpIPredicate::slt, x, zero);
      magnitude = s.select(negative, arith::SubIOp::create(b, s.loc, zero, x), x);
    }
    x = s.select(s.compare(arith::CmpIPredicate::uge, magnitude, limit), gatherLowBits(s, x), x);
  }
  return roundToOdd(s, convert(x, b.getF64Type()));
}

static Value floatToFloat(Scalar &s, Value x, Type target, bool saturate) {
  OpBuilder &b = s.builder;
  if (isa<Float64Type>(target) && !isa<Float64Type>(getElementTypeOrSelf(x.getType())))
    x = arith::ExtFOp::create(b, s.loc, s.like(x, target), x);
  if (saturate) { // in the wider of both types, where the bound is exact
    const llvm::fltSemantics &semantics = cast<FloatType>(target).getFloatSemantics();
    double largest = APFloat::getLargest(semantics).convertToDouble();
    x = s.select(s.compare(arith::CmpFPredicate::OGT, x, s.real(x, largest)), s.real(x, largest), x);
    x = s.select(s.compare(arith::CmpFPredicate::OLT, x, s.real(x, -largest)), s.real(x, -largest), x);
  }
  Type to = arithmeticType(target);
  if (getElementTypeOrSelf(x.getType()) == to)
    return x;
  if (isa<Float32Type>(target))
    return arith::TruncFOp::create(b, s.loc, s.like(x, to), x);
  return roundToOdd(s, x);
}

Value CastOp::buildScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  Scalar s(builder, loc);
  Value x = operands[0];
  Type from = getElementTypeOrSelf(getX().getType()), to = getElementTypeOrSelf(getY().getType());
  bool fromFloat = isa<FloatType>(from), isUnsigned = isUnsignedElement(fromFloat ? to : from);
  if (to.isInteger(1)) {
    if (from.isInteger(1))
      return x;
    return fromFloat
               ? s.compare(arith::CmpFPredicate::UNE, x, s.real(x, 0.0))
               : s.compare(arith::CmpIPredicate::ne, x, s.integer(x.getType(), APInt(from.getIntOrFloatBitWidth(), 0)));
  }
  if (fromFloat && isa<FloatType>(to))
    return floatToFloat(s, x, to, getSaturate());
  if (fromFloat)
    return floatToInteger(s, x, to.getIntOrFloatBitWidth(), isUnsigned);
  if (isa<FloatType>(to)) {
    Value y = integerToFloat(s, x, isUnsigned, to);
    return getSaturate() ? floatToFloat(s, y, to, true) : y;
  }
  unsigned width = to.getIntOrFloatBitWidth(), fromWidth = from.getIntOrFloatBitWidth();
  Type type = s.like(x, builder.getIntegerType(width));
  if (width < fromWidth)
    return arith::TruncIOp::create(builder, loc, type, x);
  if (width == fromWidth)
    return x;
  return isUnsigned ? Value(arith::ExtUIOp::create(builder, loc, type, x))
                    : Value(arith::ExtSIOp::create(builder, loc, type, x));
}

} // namespace halftone::dialect
