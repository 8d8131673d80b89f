// Math ops to arithmetic: which function each op is, and the building blocks of all.
// SPDX-License-Identifier: Apache-2.0
//
//   %y = math.exp %x : vector<16xf32>   becomes   %0 = arith.mulf %x, %log2e ... %y = arith.mulf %8, %9
#include "compiler/kernels/MathFunctions.h"
#include "compiler/kernels/NarrowFloat.h"
#include "compiler/kernels/Steps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

bool roundsToBf16(Operation *op) { return isa<arith::TruncFOp>(op) && getElementTypeOrSelf(op->getResult(0)).isBF16(); }

template <class Op> Emitted unary(Emitted a) { return {a.builder(), Op::create(a.builder(), a.value())}; }

/// `op` as arithmetic; null when it stays as it is.
FailureOr<Emitted> expanded(const MathTarget &target, Operation *op, ArrayRef<Emitted> x) {
  if (const MathFunction *function = mathFunction(op->getName().getStringRef()))
    return function->build(target, x);
  if (roundsToBf16(op))
    return target.convertsBf16 ? Emitted() : roundToBf16(x[0]);
  if (isa<arith::RemFOp>(op))
    return buildRemainder(target, x[0], x[1]);
  op->emitError() << "'" << op->getName() << "' has no expansion";
  return failure();
}

Emitted kept(const MathTarget &, ArrayRef<Emitted>) { return {}; }

/// A function that some targets have as an instruction.
template <bool MathTraits::*has, Emitted (MathTarget::*build)(Emitted) const>
Emitted unlessOn(const MathTarget &target, ArrayRef<Emitted> x) {
  return target.*has ? Emitted() : (target.*build)(x[0]);
}

} // namespace

ArrayRef<MathFunction> compiler::basicFunctions() {
  constexpr bool isShort = true;
  static constexpr MathFunction table[] = {
      {"math.absf", kept, 0, 0, isShort},
      {"math.absi", kept, 0, 0, isShort},
      {"math.sqrt", kept, 0.5, 0.5, isShort},
      {"math.fma",
       [](const MathTarget &target, ArrayRef<Emitted> x) {
         return target.hasFma ? Emitted() : target.multiplyAdd(x[0], x[1], x[2]);
       },
       0.5, 0.5, isShort},
      {"math.rsqrt", [](const MathTarget &, ArrayRef<Emitted> x) { return 1.0 / unary<math::SqrtOp>(x[0]); }, 1.5, 1.5},
      {"math.floor", unlessOn<&MathTraits::hasRounding, &MathTarget::floor>, 0, 0},
      {"math.ceil", unlessOn<&MathTraits::hasRounding, &MathTarget::ceil>, 0, 0},
      {"math.trunc", unlessOn<&MathTraits::hasRounding, &MathTarget::truncate>, 0, 0},
      {"math.roundeven", unlessOn<&MathTraits::hasRounding, &MathTarget::roundEven>, 0, 0},
      {"math.copysign", kept, 0, 0},
      {"math.ctlz", kept, 0, 0},
      {"math.cttz", kept, 0, 0},
      {"math.ctpop", kept, 0, 0},
  };
  return table;
}

const MathFunction *compiler::mathFunction(StringRef op) {
  static const auto rows = [] {
    llvm::StringMap<const MathFunction *> found;
    for (ArrayRef<MathFunction> table :
         {basicFunctions(), exponentials(), logarithms(), trigonometricFunctions(), inverseFunctions()})
      for (const MathFunction &function : table)
        found[function.op] = &function;
    return found;
  }();
  return rows.lookup(op);
}

bool compiler::isLongFunction(Operation &op) {
  if (!isa<math::MathDialect>(op.getDialect()))
    return false;
  const MathFunction *function = mathFunction(op.getName().getStringRef());
  return !function || !function->isShort;
}

Emitted MathTarget::multiplyAdd(Emitted a, Emitted b, Emitted c) const {
  if (!hasFma)
    return a * b + c;
  return {a.builder(), math::FmaOp::create(a.builder(), a.value(), b.value(), c.value())};
}

Emitted MathTarget::roundEven(Emitted a) const {
  if (hasRounding)
    return unary<math::RoundEvenOp>(a);
  const double shift = a.width() == 32 ? 0x1p23 : 0x1p52;
  const Emitted size = absolute(a), rounded = size + shift - shift;
  return select(size < shift, copySign(rounded, a), a); // false for NaN
}

Emitted MathTarget::truncate(Emitted a) const {
  if (hasRounding)
    return unary<math::TruncOp>(a);
  const Emitted size = absolute(a), rounded = roundEven(size);
  return copySign(select(rounded > size, rounded - 1.0, rounded), a);
}

Emitted MathTarget::floor(Emitted a) const {
  if (hasRounding)
    return unary<math::FloorOp>(a);
  const Emitted rounded = roundEven(a);
  return select(rounded > a, rounded - 1.0, rounded);
}

Emitted MathTarget::ceil(Emitted a) const {
  if (hasRounding)
    return unary<math::CeilOp>(a);
  const Emitted rounded = roundEven(a);
  return copySign(select(rounded < a, rounded + 1.0, rounded), a);
}

bool MathTarget::scales(Emitted a) const {
  auto vector = dyn_cast<VectorType>(a.type());
  return hasScale && vector && vector.getNumElements() * a.width() == 512;
}

Emitted MathTarget::scale(Emitted a, Emitted n) const {
  ImplicitLocOpBuilder &builder = a.builder();
  const bool single = a.width() == 32;
  Value lanes = arith::ConstantOp::create(builder, builder.getIntegerAttr(builder.getIntegerType(single ? 16 : 8), -1));
  Value rounding = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(4)); // as the mode says
  auto call = LLVM::CallIntrinsicOp::create(
      builder, builder.getLoc(), a.type(),
      builder.getStringAttr(single ? "llvm.x86.avx512.mask.scalef.ps.512" : "llvm.x86.avx512.mask.scalef.pd.512"),
      ValueRange{a.value(), n.value(), a.value(), lanes, rounding});
  return {builder, call.getResult(0)};
}

Emitted MathTarget::lookUp(ArrayRef<float> table, Emitted places) const {
  ImplicitLocOpBuilder &builder = places.builder();
  const auto type = cast<VectorType>(places.typeOf(places.f32()));
  Value numbers = arith::ConstantOp::create(builder, DenseElementsAttr::get(type, table));
  auto call = LLVM::CallIntrinsicOp::create(builder, builder.getLoc(), type,
                                            builder.getStringAttr("llvm.x86.avx512.permvar.sf.512"),
                                            ValueRange{numbers, places.value()});
  return {builder, call.getResult(0)};
}

Emitted MathTarget::polynomial(Emitted x, std::initializer_list<double> coefficients) const {
  Emitted sum;
  for (const double *c = coefficients.end(); c-- != coefficients.begin();)
    sum = sum ? multiplyAdd(sum, x, *c) : x.like(*c);
  return sum;
}

Emitted compiler::buildRemainder(const MathTarget &target, Emitted x, Emitted y) {
  ImplicitLocOpBuilder &builder = x.builder();
  const Emitted valid = equal(x - x, x.like(0.0)) & differs(y, y.like(0.0)) & equal(y, y);
  const Emitted size = select(valid, absolute(x), x.like(0.0)), step = select(valid, absolute(y), y.like(1.0));
  const auto any = [&](Emitted lanes) {
    if (!isa<VectorType>(lanes.type()))
      return lanes.value();
    return vector::ReductionOp::create(builder, vector::CombiningKind::OR, lanes.value()).getResult();
  };
  // Long division: double the divisor up to the number, then subtract on the way down; every step is exact.
  auto up = scf::WhileOp::create(
      builder, builder.getLoc(), TypeRange(x.type()), ValueRange(step.value()),
      [&](OpBuilder &, Location, ValueRange state) {
        const Emitted divisor(builder, state[0]), fits = divisor <= size - divisor;
        const Emitted next = select(fits, divisor + divisor, divisor);
        scf::ConditionOp::create(builder, any(fits), ValueRange(next.value()));
      },
      [&](OpBuilder &, Location, ValueRange state) { scf::YieldOp::create(builder, state); });
  auto down = scf::WhileOp::create(
      builder, builder.getLoc(), TypeRange({x.type(), x.type()}), ValueRange({size.value(), up.getResult(0)}),
      [&](OpBuilder &, Location, ValueRange state) {
        const Emitted rest(builder, state[0]), divisor(builder, state[1]);
        const Emitted left = select(rest >= divisor, rest - divisor, rest), more = divisor > step;
        const Emitted next = select(more, divisor * 0.5, divisor);
        scf::ConditionOp::create(builder, any(more), ValueRange({left.value(), next.value()}));
      },
      [&](OpBuilder &, Location, ValueRange state) { scf::YieldOp::create(builder, state); });
  const Emitted rest(builder, down.getResult(0));
  return select(valid, copySign(rest, x), x.like(std::numeric_limits<double>::quiet_NaN()));
}

LogicalResult compiler::expandMath(FunctionOpInterface function, const MathTraits &math) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()) || isa<arith::RemFOp>(op) || roundsToBf16(op))
      ops.push_back(op);
  });
  const MathTarget target(math);
  for (Operation *op : ops) {
    if (op->getNumResults() != 1)
      return op->emitError() << "'" << op->getName() << "' has no expansion";
    const Type type = getElementTypeOrSelf(op->getResult(0));
    if (isa<FloatType>(type) && !type.isF32() && !type.isF64() && !roundsToBf16(op))
      return op->emitError() << "math on " << type << "; expected f32 or f64";
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    SmallVector<Emitted> operands;
    for (Value operand : op->getOperands())
      operands.emplace_back(builder, operand);
    const FailureOr<Emitted> result = expanded(target, op, operands);
    if (failed(result))
      return failure();
    if (!*result)
      continue;
    op->getResult(0).replaceAllUsesWith(*result);
    op->erase();
  }
  return success();
}
