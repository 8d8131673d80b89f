// The scalar bodies of the elementwise ops for which ODS (Halftone_MathOp) does not define one.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ops/Scalar.h"

using namespace mlir;

namespace halftone::dialect {

namespace {
bool isFloat(Value x) { return isa<FloatType>(getElementTypeOrSelf(x.getType())); }
bool isUnsigned(Operation *op) { return isUnsignedElement(getElementTypeOrSelf(op->getOperand(0).getType())); }
int64_t widthOf(Value x) { return getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth(); }

using FloatPredicate = arith::CmpFPredicate;
using IntPredicate = arith::CmpIPredicate;

template <class FloatOp, class IntOp> Value eitherKind(Scalar s, ValueRange x) {
  return isFloat(x[0]) ? s.op<FloatOp>(x[0], x[1]) : s.op<IntOp>(x[0], x[1]);
}

// Selects lhs or rhs by `predicate`. Propagates NaN; a tie gives lhs.
Value extremum(Scalar s, ValueRange x, FloatPredicate predicate) {
  Value keep = s.either(s.compare(predicate, x[0], x[1]), s.compare(FloatPredicate::UNE, x[0], x[0]));
  return s.select(keep, x[0], x[1]);
}

// Clamps the shift amount, since shifts by the width or more are poison.
Value clampedCount(Scalar s, Value count) { return s.op<arith::MinUIOp>(count, s.whole(count, widthOf(count) - 1)); }
Value zeroIfTooFar(Scalar s, Value count, Value shifted) {
  Value far = s.compare(IntPredicate::ugt, count, s.whole(count, widthOf(count) - 1));
  return s.select(far, s.whole(shifted, 0), shifted);
}
} // namespace

Value AbsOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  if (isFloat(x[0]))
    return s.op<math::AbsFOp>(x[0]);
  if (isUnsigned(*this))
    return x[0];
  Value zero = s.whole(x[0], 0);
  return s.select(s.compare(IntPredicate::slt, x[0], zero), s.op<arith::SubIOp>(zero, x[0]), x[0]);
}

Value NegOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  return isFloat(x[0]) ? s.op<arith::NegFOp>(x[0]) : s.op<arith::SubIOp>(s.whole(x[0], 0), x[0]);
}

Value SignOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  if (isFloat(x[0])) {
    Value one = s.op<math::CopySignOp>(s.real(x[0], 1.0), x[0]);
    return s.select(s.compare(FloatPredicate::UEQ, x[0], s.real(x[0], 0.0)), x[0], one);
  }
  Value one = s.whole(x[0], 1);
  if (isUnsigned(*this))
    return s.op<arith::MinUIOp>(x[0], one);
  return s.op<arith::MaxSIOp>(s.op<arith::MinSIOp>(x[0], one), s.whole(x[0], -1));
}

Value RsqrtOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  return s.op<arith::DivFOp>(s.real(x[0], 1.0), s.op<math::SqrtOp>(x[0]));
}

Value LogisticOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  Value one = s.real(x[0], 1.0);
  Value denominator = s.op<arith::AddFOp>(one, s.op<math::ExpOp>(s.op<arith::NegFOp>(x[0])));
  return s.op<arith::DivFOp>(one, denominator);
}

Value NotOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  return s.op<arith::XOrIOp>(x[0], s.integer(x[0].getType(), APInt::getAllOnes(widthOf(x[0]))));
}

Value IsFiniteOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  return s.compare(FloatPredicate::OLT, s.op<math::AbsFOp>(x[0]),
                   s.real(x[0], std::numeric_limits<double>::infinity()));
}

Value AddOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return eitherKind<arith::AddFOp, arith::AddIOp>(Scalar(builder, loc), x);
}
Value SubOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return eitherKind<arith::SubFOp, arith::SubIOp>(Scalar(builder, loc), x);
}
Value MulOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return eitherKind<arith::MulFOp, arith::MulIOp>(Scalar(builder, loc), x);
}

Value DivOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  if (isFloat(x[0]))
    return s.op<arith::DivFOp>(x[0], x[1]);
  Value zero = s.whole(x[0], 0), one = s.whole(x[0], 1);
  Value byZero = s.compare(IntPredicate::eq, x[1], zero);
  if (isUnsigned(*this))
    return s.select(byZero, zero, s.op<arith::DivUIOp>(x[0], s.select(byZero, one, x[1])));
  // Dividing the smallest integer by -1 wraps, so division by -1 is a negation.
  Value byMinusOne = s.compare(IntPredicate::eq, x[1], s.whole(x[0], -1));
  Value quotient = s.op<arith::DivSIOp>(x[0], s.select(s.either(byZero, byMinusOne), one, x[1]));
  return s.select(byZero, zero, s.select(byMinusOne, s.op<arith::SubIOp>(zero, x[0]), quotient));
}

Value RemOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  if (isFloat(x[0]))
    return s.op<arith::RemFOp>(x[0], x[1]);
  Value one = s.whole(x[0], 1);
  Value trivial = s.compare(IntPredicate::eq, x[1], s.whole(x[0], 0));
  if (isUnsigned(*this))
    return s.op<arith::RemUIOp>(x[0], s.select(trivial, one, x[1]));
  trivial = s.either(trivial, s.compare(IntPredicate::eq, x[1], s.whole(x[0], -1)));
  return s.op<arith::RemSIOp>(x[0], s.select(trivial, one, x[1]));
}

Value ReluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  if (isFloat(x[0]))
    return extremum(s, {x[0], s.real(x[0], 0.0)}, FloatPredicate::OGE);
  return isUnsigned(*this) ? x[0] : s.op<arith::MaxSIOp>(x[0], s.whole(x[0], 0));
}

Value PowOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  if (isFloat(x[0]))
    return math::PowFOp::create(builder, loc, x[0], x[1]);
  // Exponentiation by squaring: each bit of the exponent uses the next of x, x^2, x^4, ...
  Scalar s(builder, loc);
  Value one = s.whole(x[0], 1), zero = s.whole(x[0], 0);
  Value base = x[0], bits = x[1], result = one;
  const int64_t count = isUnsigned(*this) ? widthOf(x[0]) : widthOf(x[0]) - 1;
  for (int64_t bit = 0; bit < count; ++bit) {
    if (bit > 0)
      base = s.op<arith::MulIOp>(base, base);
    Value taken = s.compare(IntPredicate::ne, s.both(bits, s.whole(x[0], int64_t(1) << bit)), zero);
    result = s.select(taken, s.op<arith::MulIOp>(result, base), result);
  }
  if (isUnsigned(*this))
    return result;
  // 1 and -1 are their own inverses; the inverse of any other integer has a magnitude below 1.
  Value belowOne = s.either(s.compare(IntPredicate::ugt, s.op<arith::AddIOp>(x[0], one), s.whole(x[0], 2)),
                            s.compare(IntPredicate::eq, x[0], zero));
  return s.select(s.both(s.compare(IntPredicate::slt, x[1], zero), belowOne), zero, result);
}

Value Atan2Op::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return math::Atan2Op::create(builder, loc, x[0], x[1]);
}

Value MaximumOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  if (isFloat(x[0]))
    return extremum(s, x, FloatPredicate::OGE);
  return isUnsigned(*this) ? s.op<arith::MaxUIOp>(x[0], x[1]) : s.op<arith::MaxSIOp>(x[0], x[1]);
}
Value MinimumOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  if (isFloat(x[0]))
    return extremum(s, x, FloatPredicate::OLE);
  return isUnsigned(*this) ? s.op<arith::MinUIOp>(x[0], x[1]) : s.op<arith::MinSIOp>(x[0], x[1]);
}

Value AndOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::AndIOp::create(builder, loc, x[0], x[1]);
}
Value OrOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::OrIOp::create(builder, loc, x[0], x[1]);
}
Value XorOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::XOrIOp::create(builder, loc, x[0], x[1]);
}

Value ShlOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  return zeroIfTooFar(s, x[1], s.op<arith::ShLIOp>(x[0], clampedCount(s, x[1])));
}
Value ShrOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  if (isUnsigned(*this))
    return zeroIfTooFar(s, x[1], s.op<arith::ShRUIOp>(x[0], clampedCount(s, x[1])));
  return s.op<arith::ShRSIOp>(x[0], clampedCount(s, x[1]));
}

Value CompareOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalar s(builder, loc);
  struct Row {
    FloatPredicate real;
    IntPredicate isSigned, isUnsigned;
  };
  auto row = [&]() -> Row {
    switch (getPredicate()) {
    case ComparePredicate::eq:
      return {FloatPredicate::OEQ, IntPredicate::eq, IntPredicate::eq};
    case ComparePredicate::ne:
      return {FloatPredicate::UNE, IntPredicate::ne, IntPredicate::ne};
    case ComparePredicate::lt:
      return {FloatPredicate::OLT, IntPredicate::slt, IntPredicate::ult};
    case ComparePredicate::le:
      return {FloatPredicate::OLE, IntPredicate::sle, IntPredicate::ule};
    case ComparePredicate::gt:
      return {FloatPredicate::OGT, IntPredicate::sgt, IntPredicate::ugt};
    case ComparePredicate::ge:
      return {FloatPredicate::OGE, IntPredicate::sge, IntPredicate::uge};
    }
    llvm_unreachable("a comparison predicate");
  }();
  if (isFloat(x[0]))
    return s.compare(row.real, x[0], x[1]);
  return s.compare(isUnsigned(*this) ? row.isUnsigned : row.isSigned, x[0], x[1]);
}

Value SelectOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::SelectOp::create(builder, loc, x[0], x[1], x[2]);
}

} // namespace halftone::dialect
