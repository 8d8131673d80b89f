// Inferred types and gradients of the elementwise ops.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Gradient.h"
#include "dialect/ops/Expression.h"
#include <cmath>
#include <numbers>

using namespace mlir;

namespace halftone::dialect {

static LogicalResult inferPredicate(ValueRange operands, size_t count, SmallVectorImpl<Type> &types) {
  auto type = operands.size() == count ? dyn_cast<RankedTensorType>(operands[0].getType()) : RankedTensorType();
  if (!type)
    return failure();
  types.push_back(type.clone(IntegerType::get(type.getContext(), 1)));
  return success();
}

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                           OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  return inferPredicate(operands, 1, types);
}
LogicalResult CompareOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  return inferPredicate(operands, 2, types);
}

namespace {
using Gradients = SmallVectorImpl<Value> &;

// Integers carry no derivative, so no operand gets a gradient.
bool takesNone(Operation *op, Gradients gradients) {
  if (isDifferentiable(op->getResult(0).getType()))
    return false;
  gradients.append(op->getNumOperands(), Value());
  return true;
}

// The cotangent goes to lhs where `predicate` holds, to rhs where the inverse holds, and half to each at a tie.
void splitByComparison(Expression e, ComparePredicate predicate, Value lhs, Value rhs, Value ct, Gradients gradients) {
  Value atTie = e.zeroUnless(e.compare(ComparePredicate::eq, lhs, rhs), e.mul(ct, 0.5));
  gradients.push_back(e.select(e.compare(predicate, lhs, rhs), ct, atTie));
  gradients.push_back(e.select(e.compare(predicate, rhs, lhs), ct, atTie));
}
} // namespace

// The gradient of OP, given the expression builder `e`, the cotangent `ct`, and the op's own accessors.
#define HALFTONE_GRADIENT(OP, ...)                                                                                     \
  LogicalResult OP::buildGradient(OpBuilder &builder, ValueRange cotangents, Gradients gradients) {                    \
    if (takesNone(*this, gradients))                                                                                   \
      return success();                                                                                                \
    [[maybe_unused]] Expression e(builder, getLoc());                                                                  \
    [[maybe_unused]] Value ct = cotangents[0];                                                                         \
    gradients.append({__VA_ARGS__});                                                                                   \
    return success();                                                                                                  \
  }
HALFTONE_GRADIENT(AbsOp, e.mul(ct, SignOp::create(e.builder, e.loc, getX())))
HALFTONE_GRADIENT(NegOp, e.neg(ct))
HALFTONE_GRADIENT(SignOp, Value())
HALFTONE_GRADIENT(FloorOp, Value())
HALFTONE_GRADIENT(CeilOp, Value())
HALFTONE_GRADIENT(RoundEvenOp, Value())
HALFTONE_GRADIENT(ReluOp, e.zeroUnless(e.compare(ComparePredicate::gt, getY(), e.splat(ct.getType(), 0.0)), ct))
HALFTONE_GRADIENT(ExpOp, e.mul(ct, getY()))
HALFTONE_GRADIENT(Expm1Op, e.mul(ct, e.add(getY(), e.splat(ct.getType(), 1.0))))
HALFTONE_GRADIENT(Exp2Op, e.mul(ct, e.mul(getY(), std::numbers::ln2)))
HALFTONE_GRADIENT(LogOp, e.div(ct, getX()))
HALFTONE_GRADIENT(Log2Op, e.div(e.mul(ct, std::numbers::log2e), getX()))
HALFTONE_GRADIENT(Log10Op, e.div(e.mul(ct, std::numbers::log10e), getX()))
HALFTONE_GRADIENT(Log1pOp, e.div(ct, e.add(getX(), e.splat(ct.getType(), 1.0))))
HALFTONE_GRADIENT(SqrtOp, e.div(e.mul(ct, 0.5), getY()))
HALFTONE_GRADIENT(CbrtOp, e.div(e.mul(ct, 1.0 / 3), e.mul(getY(), getY())))
HALFTONE_GRADIENT(RsqrtOp, e.mul(e.mul(ct, -0.5), e.div(getY(), getX())))
HALFTONE_GRADIENT(TanhOp, e.mul(ct, e.sub(e.splat(ct.getType(), 1.0), e.mul(getY(), getY()))))
HALFTONE_GRADIENT(SinhOp, e.mul(ct, CoshOp::create(e.builder, e.loc, getX())))
HALFTONE_GRADIENT(CoshOp, e.mul(ct, SinhOp::create(e.builder, e.loc, getX())))
// Uses products of roots, since roots of products would accept values outside of the domain.
HALFTONE_GRADIENT(AsinhOp, e.div(ct, e.sqrt(e.add(e.mul(getX(), getX()), 1.0))))
HALFTONE_GRADIENT(AcoshOp, e.div(ct, e.mul(e.sqrt(e.add(getX(), -1.0)), e.sqrt(e.add(getX(), 1.0)))))
HALFTONE_GRADIENT(AtanhOp, e.div(ct, e.mul(e.sub(1.0, getX()), e.add(getX(), 1.0))))
HALFTONE_GRADIENT(LogisticOp, e.mul(ct, e.mul(getY(), e.sub(e.splat(ct.getType(), 1.0), getY()))))
HALFTONE_GRADIENT(ErfOp,
                  e.mul(ct, e.mul(ExpOp::create(e.builder, e.loc, e.neg(e.mul(getX(), getX()))), 2 / std::sqrt(M_PI))))
HALFTONE_GRADIENT(SinOp, e.mul(ct, CosOp::create(e.builder, e.loc, getX())))
HALFTONE_GRADIENT(CosOp, e.neg(e.mul(ct, SinOp::create(e.builder, e.loc, getX()))))
HALFTONE_GRADIENT(TanOp, e.mul(ct, e.add(e.mul(getY(), getY()), 1.0)))
HALFTONE_GRADIENT(AsinOp, e.div(ct, e.mul(e.sqrt(e.sub(1.0, getX())), e.sqrt(e.add(getX(), 1.0)))))
HALFTONE_GRADIENT(AcosOp, e.neg(e.div(ct, e.mul(e.sqrt(e.sub(1.0, getX())), e.sqrt(e.add(getX(), 1.0))))))
HALFTONE_GRADIENT(AtanOp, e.div(ct, e.add(e.mul(getX(), getX()), 1.0)))
HALFTONE_GRADIENT(AddOp, ct, ct)
HALFTONE_GRADIENT(SubOp, ct, e.neg(ct))
HALFTONE_GRADIENT(MulOp, e.mul(ct, getRhs()), e.mul(ct, getLhs()))
#undef HALFTONE_GRADIENT

LogicalResult DivOp::buildGradient(OpBuilder &builder, ValueRange cotangents, Gradients gradients) {
  if (takesNone(*this, gradients))
    return success();
  Expression e(builder, getLoc());
  Value toLhs = e.div(cotangents[0], getRhs());
  gradients.append({toLhs, e.neg(e.mul(toLhs, getResult()))});
  return success();
}

// lhs = whole * rhs + result, where `whole` is locally constant.
LogicalResult RemOp::buildGradient(OpBuilder &builder, ValueRange cotangents, Gradients gradients) {
  if (takesNone(*this, gradients))
    return success();
  Expression e(builder, getLoc());
  Value whole = RoundEvenOp::create(builder, e.loc, e.div(e.sub(getLhs(), getResult()), getRhs()));
  gradients.append({cotangents[0], e.neg(e.mul(cotangents[0], whole))});
  return success();
}

// d/dx = y x^(y-1), 0 where y = 0; d/dy = x^y log x where x > 0, else 0.
LogicalResult PowOp::buildGradient(OpBuilder &builder, ValueRange cotangents, Gradients gradients) {
  if (takesNone(*this, gradients))
    return success();
  Expression e(builder, getLoc());
  Value x = getLhs(), y = getRhs(), ct = cotangents[0];
  Value one = e.splat(y.getType(), 1.0), zero = e.splat(y.getType(), 0.0);
  Value derivative = e.mul(y, PowOp::create(builder, e.loc, x, e.sub(y, one)));
  gradients.push_back(e.zeroUnless(e.compare(ComparePredicate::ne, y, zero), e.mul(ct, derivative)));
  Value positive = e.compare(ComparePredicate::gt, x, zero);
  Value log = LogOp::create(builder, e.loc, e.select(positive, x, one));
  gradients.push_back(e.zeroUnless(positive, e.mul(ct, e.mul(getResult(), log))));
  return success();
}

// d/dy = x / (x^2 + y^2), d/dx = -y / (x^2 + y^2). The point is scaled by its larger coordinate so that no square
// overflows.
LogicalResult Atan2Op::buildGradient(OpBuilder &builder, ValueRange cotangents, Gradients gradients) {
  Expression e(builder, getLoc());
  Value y = getLhs(), x = getRhs(), ct = cotangents[0];
  Value scale = MaximumOp::create(builder, e.loc, AbsOp::create(builder, e.loc, x), AbsOp::create(builder, e.loc, y));
  Value a = e.div(x, scale), b = e.div(y, scale);
  Value derivative = e.div(ct, e.mul(scale, e.add(e.mul(a, a), e.mul(b, b))));
  gradients.append({e.mul(derivative, a), e.neg(e.mul(derivative, b))});
  return success();
}

LogicalResult MaximumOp::buildGradient(OpBuilder &builder, ValueRange cotangents, Gradients gradients) {
  if (!takesNone(*this, gradients))
    splitByComparison({builder, getLoc()}, ComparePredicate::gt, getLhs(), getRhs(), cotangents[0], gradients);
  return success();
}
LogicalResult MinimumOp::buildGradient(OpBuilder &builder, ValueRange cotangents, Gradients gradients) {
  if (!takesNone(*this, gradients))
    splitByComparison({builder, getLoc()}, ComparePredicate::lt, getLhs(), getRhs(), cotangents[0], gradients);
  return success();
}

LogicalResult SelectOp::buildGradient(OpBuilder &builder, ValueRange cotangents, Gradients gradients) {
  if (takesNone(*this, gradients))
    return success();
  Expression e(builder, getLoc());
  Value ct = cotangents[0], zero = e.splat(ct.getType(), 0.0);
  gradients.append({Value(), e.select(getCondition(), ct, zero), e.select(getCondition(), zero, ct)});
  return success();
}

} // namespace halftone::dialect
