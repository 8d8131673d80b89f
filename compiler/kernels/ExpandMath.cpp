// Expansion of math ops to arithmetic: the lookup of functions, and their common building blocks.
// SPDX-License-Identifier: Apache-2.0
//
//   %y = math.exp %x : vector<16xf32>   becomes   %0 = arith.mulf %x, %log2e ... %y = arith.mulf %8, %9
#include "compiler/kernels/CodeSize.h"
#include "compiler/kernels/MathCores.h"
#include "compiler/kernels/MathFunctions.h"
#include "compiler/kernels/NarrowFloat.h"
#include "compiler/kernels/Steps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

template <class Op> Emitted unary(Emitted a) { return {a.builder(), Op::create(a.builder(), a.value())}; }

/// Expands `op` to arithmetic; null if the op is kept.
FailureOr<Emitted> expanded(const MathTarget &target, Operation *op, ArrayRef<Emitted> x) {
  if (const MathFunction *function = mathFunction(op->getName().getStringRef()))
    return function->build(target, x);
  if (isa<arith::RemFOp>(op))
    return buildRemainder(target, x[0], x[1]);
  op->emitError() << "'" << op->getName() << "' has no expansion";
  return failure();
}

Emitted kept(const MathTarget &, ArrayRef<Emitted>) { return {}; }

/// A function for which some targets have an instruction.
template <bool MathTraits::*has, Emitted (MathTarget::*build)(Emitted) const>
Emitted unlessOn(const MathTarget &target, ArrayRef<Emitted> x) {
  return target.*has ? Emitted() : (target.*build)(x[0]);
}

} // namespace

ArrayRef<MathFunction> compiler::basicFunctions() {
  constexpr bool isShort = true;
  static constexpr MathFunction table[] = {
      {"math.absf", kept, 0, 0, 1, isShort},
      {"math.absi", kept, 0, 0, 1, isShort},
      {"math.sqrt", kept, 0.5, 0.5, 1, isShort},
      {"math.fma",
       [](const MathTarget &target, ArrayRef<Emitted> x) {
         return target.hasFma ? Emitted() : target.multiplyAdd(x[0], x[1], x[2]);
       },
       0.5, 0.5, 1, isShort},
      {"math.rsqrt", [](const MathTarget &, ArrayRef<Emitted> x) { return 1.0 / unary<math::SqrtOp>(x[0]); }, 1.5, 1.5,
       2},
      {"math.floor", unlessOn<&MathTraits::hasRounding, &MathTarget::floor>, 0, 0, 1},
      {"math.ceil", unlessOn<&MathTraits::hasRounding, &MathTarget::ceil>, 0, 0, 1},
      {"math.trunc", unlessOn<&MathTraits::hasRounding, &MathTarget::truncate>, 0, 0, 1},
      {"math.roundeven", unlessOn<&MathTraits::hasRounding, &MathTarget::roundEven>, 0, 0, 1},
      {"math.copysign", kept, 0, 0, 1},
      {"math.ctlz", kept, 0, 0, 1},
      {"math.cttz", kept, 0, 0, 1},
      {"math.ctpop", kept, 0, 0, 1},
  };
  return table;
}

const MathFunction *compiler::mathFunction(StringRef op) {
  using Rows = llvm::StringMap<const MathFunction *>;
  static const Rows &rows = *new Rows([] {
    Rows found;
    for (ArrayRef<MathFunction> table :
         {basicFunctions(), exponentials(), logarithms(), trigonometricFunctions(), inverseFunctions()})
      for (const MathFunction &function : table)
        found[function.op] = &function;
    return found;
  }());
  return rows.lookup(op);
}

bool compiler::isLongFunction(Operation &op) {
  if (!isa<math::MathDialect>(op.getDialect()))
    return false;
  const MathFunction *function = mathFunction(op.getName().getStringRef());
  return !function || !function->isShort;
}

int64_t compiler::expansionSize(Operation &op) {
  constexpr int64_t remainder = 34, roundingToBf16 = 8;
  if (const MathFunction *function = mathFunction(op.getName().getStringRef()))
    return function->codeSize;
  return isa<arith::RemFOp>(op) ? remainder : isRoundingToBf16(&op) ? roundingToBf16 : 1;
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
  // Long division: doubles the divisor up to the number, then subtracts on the way down; every step is exact.
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

namespace {

/// Expands `op` in place to arithmetic, or to a call of a core; null if the op is kept.
FailureOr<Value> replacement(const MathTarget &target, Operation *op, std::vector<Core> &cores) {
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  if (op->getNumResults() != 1)
    return op->emitError() << "'" << op->getName() << "' has no expansion";
  const Type type = getElementTypeOrSelf(op->getResult(0));
  if (isa<FloatType>(type) && !type.isF32() && !type.isF64())
    return op->emitError() << "math op on " << type << "; expected f32 or f64";
  if (op->hasAttr(outlinedAttr))
    return callCore(builder, mathCore(op), op->getOperands(), op->getResultTypes(), op->getParentOfType<func::FuncOp>(),
                    cores)[0];
  SmallVector<Emitted> operands;
  for (Value operand : op->getOperands())
    operands.emplace_back(builder, operand);
  const FailureOr<Emitted> result = expanded(target, op, operands);
  if (failed(result))
    return failure();
  return *result ? result->value() : Value();
}

} // namespace

LogicalResult compiler::expandMath(ModuleOp module, const MathTraits &math, std::vector<Core> &cores) {
  const MathTarget target(math);
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()) || isa<arith::RemFOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    const FailureOr<Value> result = replacement(target, op, cores);
    if (failed(result))
      return failure();
    if (!*result)
      continue;
    op->getResult(0).replaceAllUsesWith(*result);
    op->erase();
  }
  return success();
}
