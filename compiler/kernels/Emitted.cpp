// The ops behind the operators of SSA values.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/Emitted.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

Emitted constantOf(ImplicitLocOpBuilder &builder, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, Attribute(element));
  return {builder, arith::ConstantOp::create(builder, element)};
}

template <class Op> Emitted build(Emitted a, Emitted b) {
  return {a.builder(), Op::create(a.builder(), a.value(), b.value())};
}

template <class FloatOp, class IntegerOp> Emitted buildEither(Emitted a, Emitted b) {
  return a.isFloat() ? build<FloatOp>(a, b) : build<IntegerOp>(a, b);
}

Emitted compare(Emitted a, Emitted b, arith::CmpFPredicate floats, arith::CmpIPredicate integers) {
  if (a.isFloat())
    return {a.builder(), arith::CmpFOp::create(a.builder(), floats, a, b)};
  return {a.builder(), arith::CmpIOp::create(a.builder(), integers, a, b)};
}

template <class Op> Emitted convert(Emitted a, Type element) {
  const Type type = a.typeOf(element);
  return type == a.type() ? a : Emitted(a.builder(), Op::create(a.builder(), type, a.value()));
}

} // namespace

Emitted Emitted::constant(ImplicitLocOpBuilder &builder, Type type, double value) {
  const auto element = cast<FloatType>(getElementTypeOrSelf(type));
  llvm::APFloat rounded(value);
  bool losesInfo = false;
  rounded.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return constantOf(builder, type, FloatAttr::get(element, rounded));
}

Emitted Emitted::constant(ImplicitLocOpBuilder &builder, Type type, int64_t value) {
  const Type element = getElementTypeOrSelf(type);
  if (isa<IndexType>(element))
    return constantOf(builder, type, IntegerAttr::get(element, value));
  const llvm::APInt bits(element.getIntOrFloatBitWidth(), uint64_t(value), /*isSigned=*/true, /*implicitTrunc=*/true);
  return constantOf(builder, type, IntegerAttr::get(element, bits));
}

bool Emitted::isFloat() const { return isa<FloatType>(getElementTypeOrSelf(type())); }

Type Emitted::typeOf(Type element) const {
  auto vector = dyn_cast<VectorType>(type());
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}
Type Emitted::f32() const { return builder_->getF32Type(); }
Type Emitted::f64() const { return builder_->getF64Type(); }
Type Emitted::integer() const { return builder_->getIntegerType(width()); }
unsigned Emitted::width() const { return getElementTypeOrSelf(type()).getIntOrFloatBitWidth(); }

Emitted Emitted::bits() const { return bitsAs(integer()); }
Emitted Emitted::bitsAs(Type element) const { return convert<arith::BitcastOp>(*this, element); }
Emitted Emitted::extend(Type element) const { return convert<arith::ExtFOp>(*this, element); }
Emitted Emitted::narrow(Type element) const {
  if (!isFloat())
    return convert<arith::TruncIOp>(*this, element);
  return typeOf(element) == type() ? *this
                                   : Emitted(*builder_, arith::TruncFOp::create(*builder_, typeOf(element), value_));
}
Emitted Emitted::widen(Type element) const { return convert<arith::ExtUIOp>(*this, element); }
Emitted Emitted::widenSigned(Type element) const { return convert<arith::ExtSIOp>(*this, element); }

Emitted compiler::operator+(Emitted a, Emitted b) { return buildEither<arith::AddFOp, arith::AddIOp>(a, b); }
Emitted compiler::operator-(Emitted a, Emitted b) { return buildEither<arith::SubFOp, arith::SubIOp>(a, b); }
Emitted compiler::operator*(Emitted a, Emitted b) { return buildEither<arith::MulFOp, arith::MulIOp>(a, b); }
Emitted compiler::operator/(Emitted a, Emitted b) { return buildEither<arith::DivFOp, arith::DivSIOp>(a, b); }
Emitted compiler::operator%(Emitted a, Emitted b) { return build<arith::RemSIOp>(a, b); }
Emitted compiler::operator&(Emitted a, Emitted b) { return build<arith::AndIOp>(a, b); }
Emitted compiler::operator|(Emitted a, Emitted b) { return build<arith::OrIOp>(a, b); }
Emitted compiler::operator^(Emitted a, Emitted b) { return build<arith::XOrIOp>(a, b); }
Emitted compiler::operator<<(Emitted a, Emitted b) { return build<arith::ShLIOp>(a, b); }
Emitted compiler::operator>>(Emitted a, Emitted b) { return build<arith::ShRUIOp>(a, b); }
Emitted compiler::operator<(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
}
Emitted compiler::operator<=(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
}
Emitted compiler::operator>(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
}
Emitted compiler::operator>=(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
}
Emitted compiler::equal(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Emitted compiler::differs(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
}
Emitted compiler::isLessUnsigned(Emitted a, Emitted b) {
  return {a.builder(), arith::CmpIOp::create(a.builder(), arith::CmpIPredicate::ult, a.value(), b.value())};
}
Emitted compiler::operator-(Emitted a) {
  return a.isFloat() ? Emitted(a.builder(), arith::NegFOp::create(a.builder(), a.value())) : a.like(0) - a;
}
Emitted compiler::negated(Emitted a) { return a ^ a.like(-1); }

Emitted compiler::select(Emitted condition, Emitted a, Emitted b) {
  return {a.builder(), arith::SelectOp::create(a.builder(), condition.value(), a.value(), b.value())};
}
Emitted compiler::minimum(Emitted a, Emitted b) { return build<arith::MinSIOp>(a, b); }
Emitted compiler::maximum(Emitted a, Emitted b) { return build<arith::MaxSIOp>(a, b); }
Emitted compiler::minimumUnsigned(Emitted a, Emitted b) { return build<arith::MinUIOp>(a, b); }
Emitted compiler::divideUnsigned(Emitted a, Emitted b) { return build<arith::DivUIOp>(a, b); }
Emitted compiler::remainderUnsigned(Emitted a, Emitted b) { return build<arith::RemUIOp>(a, b); }
Emitted compiler::ceilDivide(Emitted a, Emitted b) { return (a + b - 1) / b; }
Emitted compiler::ceilDivideUnsigned(Emitted a, Emitted b) { return divideUnsigned(a + (b - 1), b); }
Emitted compiler::shiftSigned(Emitted a, int64_t amount) { return build<arith::ShRSIOp>(a, a.like(amount)); }
Emitted compiler::toFloat(Emitted a, Type element) {
  return {a.builder(), arith::SIToFPOp::create(a.builder(), a.typeOf(element), a)};
}
Emitted compiler::countLeadingZeros(Emitted a) {
  return {a.builder(), math::CountLeadingZerosOp::create(a.builder(), a.value())};
}
Emitted compiler::countTrailingZeros(Emitted a) {
  return {a.builder(), math::CountTrailingZerosOp::create(a.builder(), a.value())};
}
Emitted compiler::absolute(Emitted a) { return {a.builder(), math::AbsFOp::create(a.builder(), a.value())}; }
Emitted compiler::copySign(Emitted magnitude, Emitted sign) {
  // Otherwise LLVM takes the sign from the f64 before rounding and calls a function to convert that f64 to f16.
  auto fence = LLVM::CallIntrinsicOp::create(sign.builder(), sign.type(),
                                             sign.builder().getStringAttr("llvm.arithmetic.fence"), sign.value());
  return build<math::CopySignOp>(magnitude, Emitted(sign.builder(), fence.getResult(0)));
}
Emitted compiler::isNan(Emitted a) { return differs(a, a); }
Emitted compiler::isEitherNan(Emitted a, Emitted b) {
  return {a.builder(), arith::CmpFOp::create(a.builder(), arith::CmpFPredicate::UNO, a.value(), b.value())};
}
