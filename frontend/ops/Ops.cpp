// keras.ops on Values: elementwise operations with promotion and broadcasting.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Ops.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "runtime/base/Half.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone {
using namespace detail;
using List = std::vector<Value>;
using OperandList = std::vector<Operand>;

namespace {

bool isTrue(const Number &number) { // NaN too, as in Python
  return number.kind() == Number::Kind::real ? number.real() != 0 : number.bits() != 0;
}

Value elementwise(std::string_view op, const Value &x) {
  return applyOne(std::string(op), {x}, [op](const List &v) { return tracing().unary(op, v[0]); });
}
/// Computes integers and bools in floatx, as Keras does.
Value floatElementwise(std::string_view op, const Value &x) {
  return applyOne(std::string(op), {x}, [op](const List &v) { return tracing().unary(op, asFloat(v[0])); });
}
/// An op that does not support bools; type_error for them, as in Keras.
Value numberElementwise(std::string_view op, const char *name, const Value &x) {
  if (x.dtype() == DType::bool_)
    throw Error(ErrorKind::type_error, fmt::format("{} takes numbers, got bool", name));
  return elementwise(op, x);
}

/// `ofBools`: the op for bools, whose result is then bool. Without it bools are converted to int32.
Value binary(std::string_view op, const Operand &a, const Operand &b, std::string_view ofBools = "") {
  return applyOperands(std::string(op), {a, b}, [op, ofBools](const OperandList &v) {
    Operands o = fit(op, v[0], v[1], ofBools.empty() ? numberOf : nullptr);
    return tracing().binary(o.a.dtype() == DType::bool_ ? ofBools : op, o.a, o.b);
  });
}
Value floatBinary(std::string_view op, const Operand &a, const Operand &b) {
  return applyOperands(std::string(op), {a, b}, [op](const OperandList &v) {
    Operands o = fit(op, v[0], v[1], floatOf);
    return tracing().binary(op, o.a, o.b);
  });
}
Value logical(std::string_view op, const Operand &a, const Operand &b) {
  return applyOperands(std::string(op), {a, b}, [op](const OperandList &v) {
    const auto truth = [](const Operand &x) {
      return x.is_number() ? Operand(isTrue(x.number())) : Operand(asDtype(x.value(), DType::bool_));
    };
    Operands o = fit(op, truth(v[0]), truth(v[1]));
    return tracing().binary(op, o.a, o.b);
  });
}

/// The result of comparing any integer of `dtype` with an integral number below or above its range.
bool comparesTo(ComparePredicate predicate, RangePosition position) {
  const bool isLess = predicate == ComparePredicate::lt || predicate == ComparePredicate::le;
  const bool isGreater = predicate == ComparePredicate::gt || predicate == ComparePredicate::ge;
  return predicate == ComparePredicate::ne || (position == RangePosition::above ? isLess : isGreater);
}
/// Compares integers with the exact number. A number with a fraction lies between two integers: comparing with it is
/// equivalent to comparing with the next integer up or down.
Value compareIntegers(ComparePredicate predicate, const Value &x, const Number &number) {
  const auto always = [&x](bool result) { return tracing().splat(result, x.shape(), DType::bool_); };
  Number whole = number;
  if (number.kind() == Number::Kind::real) {
    const bool isEquality = predicate == ComparePredicate::eq || predicate == ComparePredicate::ne;
    const bool up = predicate == ComparePredicate::lt || predicate == ComparePredicate::ge;
    whole = up ? std::ceil(number.real()) : std::floor(number.real());
    if (std::isnan(number.real()) || (isEquality && whole.real() != number.real()))
      return always(predicate == ComparePredicate::ne);
  }
  const RangePosition position = positionIn(x.dtype(), whole);
  return position == RangePosition::inside ? tracing().compare(predicate, x, scalarLike(whole, x))
                                           : always(comparesTo(predicate, position));
}

/// The predicate for swapped operands.
ComparePredicate mirrored(ComparePredicate predicate) {
  switch (predicate) {
  case ComparePredicate::lt:
    return ComparePredicate::gt;
  case ComparePredicate::le:
    return ComparePredicate::ge;
  case ComparePredicate::gt:
    return ComparePredicate::lt;
  case ComparePredicate::ge:
    return ComparePredicate::le;
  default:
    return predicate;
  }
}
/// Compares the elements of `x` with the exact number. An integer dtype of x need not represent the number. Nor need a
/// float8 dtype, some of which have no infinity to which the number could round.
Value compareWith(ComparePredicate predicate, const Value &x, const Number &number) {
  const bool isBeyond =
      itemsize(x.dtype()) == 1 && is_float(x.dtype()) && std::abs(number.real()) > largestFinite(x.dtype());
  const Value y = isBeyond ? asDtype(x, DType::float32) : asNumber(x);
  return is_float(y.dtype()) ? tracing().compare(predicate, y, scalarLike(number, y))
                             : compareIntegers(predicate, y, number);
}
Value compare(ComparePredicate predicate, const char *op, const Operand &a, const Operand &b) {
  return applyOperands(op, {a, b}, [predicate, op](const OperandList &v) {
    if (v[0].is_number() != v[1].is_number())
      return v[1].is_number() ? compareWith(predicate, v[0].value(), v[1].number())
                              : compareWith(mirrored(predicate), v[1].value(), v[0].number());
    Operands o = fit(op, v[0], v[1]);
    return tracing().compare(predicate, o.a, o.b);
  });
}

/// Refuses chained comparisons: in C++, 0 < x < 1 compares the result of 0 < x, which is a bool Value.
void requireNoChain(const Operand &a, const Operand &b) {
  for (const Operand *operand : {&a, &b})
    if (!operand->is_number() && operand->value().dtype() == DType::bool_)
      throw Error(
          ErrorKind::type_error,
          "an operator < <= > >= compares a bool Value, as 0 < x < 1 does: write (0 < x) & (x < 1), or ops::less "
          "to compare bools");
}

/// Returns true if the bound of an integer Value has an effect: a lower bound below the dtype's range, or an upper
/// bound above it, has none.
bool isBound(DType dtype, const Number &bound, RangePosition idle) {
  if (is_float(dtype))
    return true;
  const RangePosition position = positionIn(dtype, bound);
  if (position != RangePosition::inside && position != idle)
    requireHolds("clip", dtype, bound);
  return position != idle;
}
Value clipped(const Value &x, const Number &least, const Number &most) {
  const bool inReals = least.kind() == Number::Kind::real || most.kind() == Number::Kind::real;
  Value y = inReals ? asFloat(x) : asNumber(x);
  const bool fromBelow = isBound(y.dtype(), least, RangePosition::below),
             fromAbove = isBound(y.dtype(), most, RangePosition::above);
  if (fromBelow)
    y = tracing().binary("maximum", y, scalarLike(least, y));
  return fromAbove ? tracing().binary("minimum", y, scalarLike(most, y)) : y;
}
/// Clips when at least one bound is a Value. As between numbers, a number that bounds no integer of x's dtype has no
/// effect.
Value clippedByValue(const Value &x, const Operand &least, const Operand &most) {
  const auto isReal = [](const Operand &bound) {
    return bound.is_number() && bound.number().kind() == Number::Kind::real;
  };
  const DType dtype = isReal(least) || isReal(most) ? floatOf(x.dtype()) : numberOf(x.dtype());
  Value y = x.dtype() == dtype ? x : ops::cast(x, dtype);
  if (!least.is_number() || isBound(dtype, least.number(), RangePosition::below))
    y = ops::maximum(y, least);
  return most.is_number() && !isBound(y.dtype(), most.number(), RangePosition::above) ? y : ops::minimum(y, most);
}

} // namespace

Value operator+(const Operand &a, const Operand &b) { return binary("add", a, b, "or"); }
Value operator-(const Operand &a, const Operand &b) { return binary("sub", a, b); }
Value operator*(const Operand &a, const Operand &b) { return binary("mul", a, b, "and"); }
Value operator/(const Operand &a, const Operand &b) { return floatBinary("div", a, b); }
Value operator%(const Operand &a, const Operand &b) { return ops::mod(a, b); }
Value operator-(const Value &a) { return ops::negative(a); }
Value operator==(const Operand &a, const Operand &b) { return ops::equal(a, b); }
Value operator!=(const Operand &a, const Operand &b) { return ops::not_equal(a, b); }
Value operator<(const Operand &a, const Operand &b) { return requireNoChain(a, b), ops::less(a, b); }
Value operator<=(const Operand &a, const Operand &b) { return requireNoChain(a, b), ops::less_equal(a, b); }
Value operator>(const Operand &a, const Operand &b) { return requireNoChain(a, b), ops::greater(a, b); }
Value operator>=(const Operand &a, const Operand &b) { return requireNoChain(a, b), ops::greater_equal(a, b); }
Value operator&(const Operand &a, const Operand &b) { return ops::bitwise_and(a, b); }
Value operator|(const Operand &a, const Operand &b) { return ops::bitwise_or(a, b); }
Value operator^(const Operand &a, const Operand &b) { return ops::bitwise_xor(a, b); }
Value operator~(const Value &a) { return ops::bitwise_not(a); }
Value operator!(const Value &a) { return ops::logical_not(a); }

namespace ops {

Value cast(const Value &x, DType dtype) {
  if (isSymbolic(x))
    return recordOperation("Cast", {x}, configOf("dtype", dtype));
  return applyOne("cast", {x}, [dtype](const List &v) { return asDtype(v[0], dtype, "user"); });
}
Value add(const Operand &a, const Operand &b) { return a + b; }
Value subtract(const Operand &a, const Operand &b) { return a - b; }
Value multiply(const Operand &a, const Operand &b) { return a * b; }
Value divide(const Operand &a, const Operand &b) { return a / b; }
Value divide_no_nan(const Operand &a, const Operand &b) {
  return applyOperands("divide_no_nan", {a, b}, [](const OperandList &v) {
    const Operands o = fit("divide_no_nan", v[0], v[1], floatOf);
    const Value zero = scalarLike(0.0, o.b), isZero = tracing().compare(ComparePredicate::eq, o.b, zero);
    const Value nothing = scalarLike(0.0, o.a), divisor = tracing().select(isZero, scalarLike(1.0, o.b), o.b);
    return tracing().select(isZero, nothing, tracing().binary("div", o.a, divisor));
  });
}
Value power(const Operand &a, const Operand &b) { return binary("pow", a, b); }
Value maximum(const Operand &a, const Operand &b) { return binary("maximum", a, b, "or"); }
Value minimum(const Operand &a, const Operand &b) { return binary("minimum", a, b, "and"); }
Value clip(const Value &x, const Operand &x_min, const Operand &x_max) {
  if (!x_min.is_number() || !x_max.is_number())
    return clippedByValue(x, x_min, x_max);
  const Number least = x_min.number(), most = x_max.number();
  if (isSymbolic(x) && std::isfinite(least.real()) && std::isfinite(most.real())) { // JSON cannot represent others
    Config bounds = configOf("x_min", least);
    setField(bounds, "x_max", most);
    return recordOperation("Clip", {x}, bounds);
  }
  return applyOne("clip", {x}, [least, most](const List &v) { return clipped(v[0], least, most); });
}
Value where(const Value &condition, const Operand &a, const Operand &b) {
  return applyOperands("where", {condition, a, b}, [](const OperandList &v) {
    const Value &holds = v[0].value();
    Operands o = fit("where", v[1], v[2]);
    Shape shape = broadcastShape("where", holds.shape(), o.a.shape());
    return tracing().select(broadcastTo(asDtype(holds, DType::bool_), shape), broadcastTo(o.a, shape),
                            broadcastTo(o.b, shape));
  });
}

Value exp(const Value &x) { return floatElementwise("exp", x); }
Value exp2(const Value &x) { return floatElementwise("exp2", x); }
Value expm1(const Value &x) { return floatElementwise("expm1", x); }
Value log(const Value &x) { return floatElementwise("log", x); }
Value log2(const Value &x) { return floatElementwise("log2", x); }
Value log10(const Value &x) { return floatElementwise("log10", x); }
Value log1p(const Value &x) { return floatElementwise("log1p", x); }
Value sqrt(const Value &x) { return floatElementwise("sqrt", x); }
Value cbrt(const Value &x) { return floatElementwise("cbrt", x); }
Value rsqrt(const Value &x) { return floatElementwise("rsqrt", x); }
Value sin(const Value &x) { return floatElementwise("sin", x); }
Value cos(const Value &x) { return floatElementwise("cos", x); }
Value tan(const Value &x) { return floatElementwise("tan", x); }
Value arcsin(const Value &x) { return floatElementwise("asin", x); }
Value arccos(const Value &x) { return floatElementwise("acos", x); }
Value arctan(const Value &x) { return floatElementwise("atan", x); }
Value arctan2(const Operand &x1, const Operand &x2) { return floatBinary("atan2", x1, x2); }
Value sinh(const Value &x) { return floatElementwise("sinh", x); }
Value cosh(const Value &x) { return floatElementwise("cosh", x); }
Value arcsinh(const Value &x) { return floatElementwise("asinh", x); }
Value arccosh(const Value &x) { return floatElementwise("acosh", x); }
Value arctanh(const Value &x) { return floatElementwise("atanh", x); }
Value erf(const Value &x) { return floatElementwise("erf", x); }
Value tanh(const Value &x) { return floatElementwise("tanh", x); }
Value sigmoid(const Value &x) { return floatElementwise("logistic", x); }
Value floor(const Value &x) { return floatElementwise("floor", x); }
Value ceil(const Value &x) { return floatElementwise("ceil", x); }
Value round(const Value &x) { // rounding an integer changes nothing
  return applyOne("round", {x}, [](const List &v) {
    bool isRound = !is_float(v[0].dtype()) && v[0].dtype() != DType::bool_;
    return isRound ? v[0] : tracing().unary("round_even", asFloat(v[0]));
  });
}
Value abs(const Value &x) {
  return applyOne("abs", {x},
                  [](const List &v) { return v[0].dtype() == DType::bool_ ? v[0] : tracing().unary("abs", v[0]); });
}
Value sign(const Value &x) { return numberElementwise("sign", "sign", x); }
Value negative(const Value &x) { return numberElementwise("neg", "negative", x); }
Value square(const Value &x) {
  return applyOne("square", {x}, [](const List &v) {
    Value y = asNumber(v[0]);
    return tracing().binary("mul", y, y);
  });
}
Value relu(const Value &x) {
  return applyOne("relu", {x}, [](const List &v) { return tracing().unary("relu", asNumber(v[0])); });
}

Value equal(const Operand &a, const Operand &b) { return compare(ComparePredicate::eq, "equal", a, b); }
Value not_equal(const Operand &a, const Operand &b) { return compare(ComparePredicate::ne, "not_equal", a, b); }
Value less(const Operand &a, const Operand &b) { return compare(ComparePredicate::lt, "less", a, b); }
Value less_equal(const Operand &a, const Operand &b) { return compare(ComparePredicate::le, "less_equal", a, b); }
Value greater(const Operand &a, const Operand &b) { return compare(ComparePredicate::gt, "greater", a, b); }
Value greater_equal(const Operand &a, const Operand &b) { return compare(ComparePredicate::ge, "greater_equal", a, b); }
Value logical_and(const Operand &a, const Operand &b) { return logical("and", a, b); }
Value logical_or(const Operand &a, const Operand &b) { return logical("or", a, b); }
Value logical_xor(const Operand &a, const Operand &b) { return logical("xor", a, b); }
Value logical_not(const Value &x) {
  return applyOne("not", {x}, [](const List &v) { return tracing().unary("not", asDtype(v[0], DType::bool_)); });
}
Value isfinite(const Value &x) {
  return applyOne("isfinite", {x}, [](const List &v) { return tracing().isFinite(asFloat(v[0])); });
}

Value zeros_like(const Value &x) { return full_like(x, 0.0); }
Value ones_like(const Value &x) { return full_like(x, 1.0); }
Value full_like(const Value &x, const Operand &value) {
  return applyOperands("full_like", {x, value}, [](const OperandList &v) {
    const Value &like = v[0].value();
    return v[1].is_number() ? scalarLike(v[1].number(), like, "full_like")
                            : broadcastTo(asDtype(v[1].value(), like.dtype(), "full_like"), like.shape());
  });
}
Value stop_gradient(const Value &x) {
  return applyOne("stop_gradient", {x}, [](const List &v) { return tracing().stopGradient(v[0]); });
}
Value all_finite(const Values &xs) {
  return applyOne("all_finite", List(xs.begin(), xs.end()), [](const List &v) {
    List floats;
    for (const Value &x : v)
      if (is_float(x.dtype()))
        floats.push_back(x);
    return tracing().reduceAll(ReduceAllKind::all_finite, floats);
  });
}

} // namespace ops
} // namespace halftone
