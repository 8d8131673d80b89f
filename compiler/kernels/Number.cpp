// SSA values with operators: which op each becomes.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/Number.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

Number constantOf(ImplicitLocOpBuilder &builder, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, Attribute(element));
  return {builder, arith::ConstantOp::create(builder, element)};
}

template <class Op> Number build(Number a, Number b) {
  return {a.builder(), Op::create(a.builder(), a.value(), b.value())};
}

template <class FloatOp, class IntegerOp> Number buildEither(Number a, Number b) {
  return a.isFloat() ? build<FloatOp>(a, b) : build<IntegerOp>(a, b);
}

Number compare(Number a, Number b, arith::CmpFPredicate floats, arith::CmpIPredicate integers) {
  if (a.isFloat())
    return {a.builder(), arith::CmpFOp::create(a.builder(), floats, a, b)};
  return {a.builder(), arith::CmpIOp::create(a.builder(), integers, a, b)};
}

template <class Op> Number convert(Number a, Type element) {
  const Type type = a.typeOf(element);
  return type == a.type() ? a : Number(a.builder(), Op::create(a.builder(), type, a.value()));
}

} // namespace

Number Number::constant(ImplicitLocOpBuilder &builder, Type type, double value) {
  const auto element = cast<FloatType>(getElementTypeOrSelf(type));
  llvm::APFloat number(value);
  bool losesInfo = false;
  number.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return constantOf(builder, type, FloatAttr::get(element, number));
}

Number Number::constant(ImplicitLocOpBuilder &builder, Type type, int64_t value) {
  const Type element = getElementTypeOrSelf(type);
  if (isa<IndexType>(element))
    return constantOf(builder, type, IntegerAttr::get(element, value));
  const llvm::APInt bits(element.getIntOrFloatBitWidth(), uint64_t(value), /*isSigned=*/true, /*implicitTrunc=*/true);
  return constantOf(builder, type, IntegerAttr::get(element, bits));
}

bool Number::isFloat() const { return isa<FloatType>(getElementTypeOrSelf(type())); }

Type Number::typeOf(Type element) const {
  auto vector = dyn_cast<VectorType>(type());
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}
Type Number::f32() const { return builder_->getF32Type(); }
Type Number::f64() const { return builder_->getF64Type(); }
Type Number::integer() const { return builder_->getIntegerType(width()); }
unsigned Number::width() const { return getElementTypeOrSelf(type()).getIntOrFloatBitWidth(); }

Number Number::bits() const { return bitsAs(integer()); }
Number Number::bitsAs(Type element) const { return convert<arith::BitcastOp>(*this, element); }
Number Number::extend(Type element) const { return convert<arith::ExtFOp>(*this, element); }
Number Number::narrow(Type element) const {
  if (!isFloat())
    return convert<arith::TruncIOp>(*this, element);
  return typeOf(element) == type() ? *this
                                   : Number(*builder_, arith::TruncFOp::create(*builder_, typeOf(element), value_));
}
Number Number::widen(Type element) const { return convert<arith::ExtUIOp>(*this, element); }
Number Number::widenSigned(Type element) const { return convert<arith::ExtSIOp>(*this, element); }
Number Number::toFloat(Type element) const {
  return {*builder_, arith::SIToFPOp::create(*builder_, typeOf(element), value_)};
}

Number compiler::operator+(Number a, Number b) { return buildEither<arith::AddFOp, arith::AddIOp>(a, b); }
Number compiler::operator-(Number a, Number b) { return buildEither<arith::SubFOp, arith::SubIOp>(a, b); }
Number compiler::operator*(Number a, Number b) { return buildEither<arith::MulFOp, arith::MulIOp>(a, b); }
Number compiler::operator/(Number a, Number b) { return buildEither<arith::DivFOp, arith::DivSIOp>(a, b); }
Number compiler::operator%(Number a, Number b) { return build<arith::RemSIOp>(a, b); }
Number compiler::operator&(Number a, Number b) { return build<arith::AndIOp>(a, b); }
Number compiler::operator|(Number a, Number b) { return build<arith::OrIOp>(a, b); }
Number compiler::operator^(Number a, Number b) { return build<arith::XOrIOp>(a, b); }
Number compiler::operator<<(Number a, Number b) { return build<arith::ShLIOp>(a, b); }
Number compiler::operator>>(Number a, Number b) { return build<arith::ShRUIOp>(a, b); }
Number compiler::operator<(Number a, Number b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
}
Number compiler::operator<=(Number a, Number b) {
  return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
}
Number compiler::operator>(Number a, Number b) {
  return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
}
Number compiler::operator>=(Number a, Number b) {
  return compare(a, b, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
}
Number compiler::equal(Number a, Number b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Number compiler::differs(Number a, Number b) {
  return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
}
Number compiler::operator-(Number a) {
  return a.isFloat() ? Number(a.builder(), arith::NegFOp::create(a.builder(), a.value())) : a.like(0) - a;
}
Number compiler::negated(Number a) { return a ^ a.like(-1); }

Number compiler::select(Number condition, Number a, Number b) {
  return {a.builder(), arith::SelectOp::create(a.builder(), condition.value(), a.value(), b.value())};
}
Number compiler::minimum(Number a, Number b) { return build<arith::MinSIOp>(a, b); }
Number compiler::maximum(Number a, Number b) { return build<arith::MaxSIOp>(a, b); }
Number compiler::shiftSigned(Number a, int64_t amount) { return build<arith::ShRSIOp>(a, a.like(amount)); }
Number compiler::countLeadingZeros(Number a) {
  return {a.builder(), math::CountLeadingZerosOp::create(a.builder(), a.value())};
}
Number compiler::absolute(Number a) { return {a.builder(), math::AbsFOp::create(a.builder(), a.value())}; }
Number compiler::copySign(Number magnitude, Number sign) {
  // LLVM takes the sign of a rounded f64 from the f64, and then calls a function to make that an f16.
  auto fence = LLVM::CallIntrinsicOp::create(sign.builder(), sign.type(),
                                             sign.builder().getStringAttr("llvm.arithmetic.fence"), sign.value());
  return build<math::CopySignOp>(magnitude, Number(sign.builder(), fence.getResult(0)));
}
Number compiler::isNan(Number a) { return differs(a, a); }
