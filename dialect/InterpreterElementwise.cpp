// The interpreter's elementwise ops; those of floats are functions of InterpreterReals.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/InterpreterOps.h"
#include "runtime/base/Half.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

/// An integer function, before wrapping. `atEnds` means that its extrema are at the bounds of its operands.
struct IntFunction {
  Int (*exact)(Int, Int, const IntFormat &);
  bool atEnds = false;
};

Int shiftLeft(Int a, Int b, const IntFormat &format) {
  return b < 0 || b >= format.width ? Int(0)
                                    : static_cast<Int>(static_cast<unsigned __int128>(a) << static_cast<int>(b));
}
Int shiftRight(Int a, Int b, const IntFormat &format) {
  return a >> static_cast<int>(b < 0 || b >= format.width ? 64 : b);
}

Int wrappingProduct(Int a, Int b) {
  return static_cast<Int>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
}
Int integerPower(Int base, Int exponent, const IntFormat &) {
  if (exponent < 0)
    return base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base == -1 ? -1 : 0;
  Int result = 1;
  for (; exponent > 0; exponent >>= 1, base = wrappingProduct(base, base))
    if (exponent & 1)
      result = wrappingProduct(result, base);
  return result;
}

IntFunction intFunction(Operation *op) {
  using F = const IntFormat &;
  return llvm::TypeSwitch<Operation *, IntFunction>(op)
      .Case([](AbsOp) { return IntFunction{[](Int a, Int, F) { return a < 0 ? -a : a; }}; })
      .Case([](NegOp) { return IntFunction{[](Int a, Int, F) { return -a; }, true}; })
      .Case([](SignOp) { return IntFunction{[](Int a, Int, F) { return Int(a > 0) - Int(a < 0); }, true}; })
      .Case([](NotOp) { return IntFunction{[](Int a, Int, F) { return ~a; }}; })
      .Case([](AddOp) { return IntFunction{[](Int a, Int b, F) { return a + b; }, true}; })
      .Case([](SubOp) { return IntFunction{[](Int a, Int b, F) { return a - b; }, true}; })
      .Case([](MulOp) { return IntFunction{[](Int a, Int b, F) { return wrappingProduct(a, b); }}; })
      .Case([](DivOp) { return IntFunction{[](Int a, Int b, F) { return b == 0 ? Int(0) : a / b; }}; })
      .Case([](RemOp) { return IntFunction{[](Int a, Int b, F) { return b == 0 ? Int(0) : a % b; }}; })
      .Case([](ReluOp) { return IntFunction{[](Int a, Int, F) { return a > 0 ? a : Int(0); }, true}; })
      .Case([](PowOp) { return IntFunction{integerPower}; })
      .Case([](MaximumOp) { return IntFunction{[](Int a, Int b, F) { return a >= b ? a : b; }, true}; })
      .Case([](MinimumOp) { return IntFunction{[](Int a, Int b, F) { return a <= b ? a : b; }, true}; })
      .Case([](AndOp) { return IntFunction{[](Int a, Int b, F) { return a & b; }}; })
      .Case([](OrOp) { return IntFunction{[](Int a, Int b, F) { return a | b; }}; })
      .Case([](XorOp) { return IntFunction{[](Int a, Int b, F) { return a ^ b; }}; })
      .Case([](ShlOp) { return IntFunction{shiftLeft}; })
      .Case([](ShrOp) { return IntFunction{shiftRight}; })
      .Default(IntFunction{nullptr});
}

IntInterval applyInt(const IntFunction &function, IntInterval a, IntInterval b, const IntFormat &format) {
  if (a.isPoint() && b.isPoint()) {
    Int value = format.wrap(function.exact(a.low, b.low, format));
    return {value, value};
  }
  // Tries all combinations of the bounds: these are all values of bools, and include the extrema if `atEnds` holds.
  if (format.width != 1 && !function.atEnds)
    return {format.low, format.high};
  IntInterval result{format.high, format.low};
  for (Int x : {a.low, a.high})
    for (Int y : {b.low, b.high}) {
      Int value = function.exact(x, y, format);
      if (format.width != 1 && !format.holds(value))
        return {format.low, format.high};
      value = format.wrap(value);
      result = {std::min(result.low, value), std::max(result.high, value)};
    }
  return result;
}

/// Returns whether a comparison holds for all, some or none of the values.
template <class Bounds> IntInterval compareBounds(ComparePredicate predicate, Bounds a, Bounds b) {
  auto outcome = [](bool always, bool possible) { return IntInterval{always ? 1 : 0, possible ? 1 : 0}; };
  switch (predicate) {
  case ComparePredicate::lt:
    return outcome(a.high < b.low, a.low < b.high);
  case ComparePredicate::le:
    return outcome(a.high <= b.low, a.low <= b.high);
  case ComparePredicate::gt:
    return outcome(a.low > b.high, a.high > b.low);
  case ComparePredicate::ge:
    return outcome(a.low >= b.high, a.high >= b.low);
  case ComparePredicate::eq:
    return outcome(a.isPoint() && b.isPoint() && a.low == b.low, a.low <= b.high && b.low <= a.high);
  case ComparePredicate::ne:
    return outcome(a.high < b.low || b.high < a.low, !(a.isPoint() && b.isPoint() && a.low == b.low));
  }
  return outcome(false, true);
}

IntInterval compareReals(ComparePredicate predicate, Interval a, Interval b) {
  if (a.isNan() || b.isNan())
    return predicate == ComparePredicate::ne ? IntInterval{1, 1} : IntInterval{0, 0};
  if (a.isAny() || b.isAny())
    return {0, 1};
  return compareBounds(predicate, a, b);
}

TensorData evaluateCompare(CompareOp op, const TensorData &a, const TensorData &b) {
  TensorWriter writer(op.getType());
  IntFormat format(a.type.getElementType());
  for (int64_t i = 0, e = a.size(); i < e; ++i)
    writer.whole(i, a.isFloat() ? compareReals(op.getPredicate(), realAt(a, i), realAt(b, i))
                                : compareBounds(op.getPredicate(), wholeAt(a, i, format), wholeAt(b, i, format)));
  return writer.take();
}

TensorData evaluateIsFinite(IsFiniteOp op, const TensorData &x) {
  TensorWriter writer(op.getType());
  for (int64_t i = 0, e = x.size(); i < e; ++i) {
    Interval value = realAt(x, i);
    bool low = std::isfinite(value.low), high = std::isfinite(value.high);
    bool possible = value.isAny() || low || high || (value.isBounded() && value.low != value.high);
    writer.whole(i, IntInterval{low && high, possible});
  }
  return writer.take();
}

TensorData evaluateSelect(SelectOp op, const TensorData &p, const TensorData &a, const TensorData &b) {
  TensorWriter writer(op.getType());
  IntFormat condition(p.type.getElementType()), format(a.type.getElementType());
  for (int64_t i = 0, e = p.size(); i < e; ++i) {
    IntInterval choice = wholeAt(p, i, condition);
    if (choice.isPoint()) {
      const TensorData &chosen = choice.low ? a : b;
      a.isFloat() ? writer.real(i, realAt(chosen, i)) : writer.whole(i, wholeAt(chosen, i, format));
    } else if (a.isFloat()) {
      writer.real(i, Interval::hull(realAt(a, i), realAt(b, i)));
    } else {
      IntInterval x = wholeAt(a, i, format), y = wholeAt(b, i, format);
      writer.whole(i, IntInterval{std::min(x.low, y.low), std::max(x.high, y.high)});
    }
  }
  return writer.take();
}

std::optional<TensorData> evaluateInts(Operation *op, Operands x) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  IntFunction function = intFunction(op);
  if (!function.exact)
    return std::nullopt;
  TensorWriter writer(type);
  IntFormat format(type.getElementType());
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i)
    writer.whole(i, applyInt(function, wholeAt(*x.front(), i, format), wholeAt(*x.back(), i, format), format));
  return writer.take();
}

Int truncated(double value, const IntFormat &format) {
  if (std::isnan(value))
    return 0;
  // The bounds are powers of two, or one less: as doubles they are too high by at most one.
  if (value >= static_cast<double>(format.high))
    return format.high;
  return value <= static_cast<double>(format.low) ? format.low : static_cast<Int>(value);
}

IntInterval toInt(Interval x, const IntFormat &format) {
  if (format.width == 1 && !format.low && format.high == 1) {
    if (x.isAny())
      return {0, 1};
    bool always = x.isNan() || x.low > 0 || x.high < 0;
    return {always, always || x.low != 0 || x.high != 0};
  }
  return x.isAny() ? IntInterval{format.low, format.high}
                   : IntInterval{truncated(x.low, format), truncated(x.high, format)};
}

double toReal(Int value, bool isUnsigned, const Rounding &rounding, Overflow overflow) {
  double exact = rounding.wide ? static_cast<double>(value)
                 : isUnsigned  ? toDoubleForRounding(static_cast<uint64_t>(value))
                               : toDoubleForRounding(static_cast<int64_t>(value));
  return roundTo(rounding.dtype, exact, overflow);
}

TensorData evaluateCast(CastOp op, const TensorData &x, const InterpreterOptions &options) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorWriter writer(type);
  bool fromFloat = x.isFloat(), toFloat = isa<FloatType>(type.getElementType());
  Overflow overflow = op.getSaturate() ? Overflow::saturate : Overflow::natural;
  IntFormat from(x.type.getElementType()), to(type.getElementType());
  Rounding rounding(toFloat ? *dtypeOf(type.getElementType()) : DType::float64);
  for (int64_t i = 0, e = x.size(); i < e; ++i) {
    if (fromFloat && toFloat) {
      Interval value = realAt(x, i), stored = value;
      if (!value.isAny())
        stored = {roundTo(rounding.dtype, value.low, overflow), roundTo(rounding.dtype, value.high, overflow)};
      if (!value.isPoint() && !stored.isBounded())
        stored = Interval::any();
      if (options.intervals && !options.strict && op.getKind() == CastKind::storage)
        stored = Interval::hull(stored, value);
      writer.real(i, stored);
    } else if (fromFloat) {
      writer.whole(i, toInt(realAt(x, i), to));
    } else if (toFloat) {
      IntInterval value = wholeAt(x, i, from);
      writer.real(i, Interval{toReal(value.low, from.isUnsigned, rounding, overflow),
                              toReal(value.high, from.isUnsigned, rounding, overflow)});
    } else {
      IntInterval value = wholeAt(x, i, from);
      if (to.width == 1)
        writer.whole(i, IntInterval{value.low > 0 || value.high < 0, value.low != 0 || value.high != 0});
      else if (value.isPoint() || (to.holds(value.low) && to.holds(value.high)))
        writer.whole(i, IntInterval{to.wrap(value.low), to.wrap(value.high)});
      else
        writer.whole(i, IntInterval{to.low, to.high});
    }
  }
  return writer.take();
}

} // namespace

std::optional<TensorData> evaluateElementwise(Operation *op, Operands x, const InterpreterOptions &options) {
  if (!isa<ElementwiseOpInterface>(op))
    return std::nullopt;
  if (auto cast = dyn_cast<CastOp>(op))
    return evaluateCast(cast, *x[0], options);
  if (auto compare = dyn_cast<CompareOp>(op))
    return evaluateCompare(compare, *x[0], *x[1]);
  if (auto select = dyn_cast<SelectOp>(op))
    return evaluateSelect(select, *x[0], *x[1], *x[2]);
  if (auto isFinite = dyn_cast<IsFiniteOp>(op))
    return evaluateIsFinite(isFinite, *x[0]);
  return x[0]->isFloat() ? evaluateReals(op, x, options) : evaluateInts(op, x);
}

} // namespace halftone::dialect
