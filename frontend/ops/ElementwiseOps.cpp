// keras.ops on Values: elementwise operations composed of several dialect ops.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/base/Half.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone {
using namespace detail;
using List = std::vector<Value>;
using OperandList = std::vector<Operand>;

namespace {

Value zeroOf(const Value &like) { return scalarLike(0.0, like); }
Value isZero(const Value &x) { return tracing().compare(ComparePredicate::eq, x, zeroOf(x)); }
Value isNegative(const Value &x) { return tracing().compare(ComparePredicate::lt, x, zeroOf(x)); }
Value isInfinite(const Value &x) {
  return tracing().compare(ComparePredicate::eq, tracing().unary("abs", x), scalarLike(HUGE_VAL, x));
}

/// The remainder of a / b with a's sign, and whether Python's has the other sign: Python's is then larger by b, and the
/// quotient smaller by 1.
struct Rest {
  Value rest, isOther;
};
Rest restOf(const Operands &o) {
  Trace &t = tracing();
  Value rest = t.binary("rem", o.a, o.b);
  Value signsDiffer = t.binary("xor", isNegative(rest), isNegative(o.b));
  return {rest, t.binary("and", t.unary("not", isZero(rest)), signsDiffer)};
}

Value floorQuotient(const Operands &o) {
  Trace &t = tracing();
  auto [rest, isOther] = restOf(o);
  const bool isFloat = is_float(o.a.dtype());
  Value quotient = t.binary("div", isFloat ? t.binary("sub", o.a, rest) : o.a, o.b);
  Value whole = t.binary("sub", quotient, t.select(isOther, scalarLike(1.0, quotient), zeroOf(quotient)));
  if (!isFloat)
    return whole;
  return t.stopGradient(t.select(isZero(o.b), t.binary("div", o.a, o.b), t.unary("round_even", whole)));
}

Value floorRest(const Operands &o) {
  Trace &t = tracing();
  auto [rest, isOther] = restOf(o);
  Value y = t.binary("add", rest, t.select(isOther, o.b, zeroOf(o.b)));
  if (!is_float(y.dtype()))
    return y;
  // A zero remainder takes b's sign: -0 + 0 is 0.
  Value minusZero = t.unary("neg", t.binary("add", t.unary("neg", y), zeroOf(y)));
  return t.select(isNegative(o.b), minusZero, t.binary("add", y, zeroOf(y)));
}

/// Applies `op` to operands in `computed` of their promoted dtype.
Value binary(const char *op, const Operand &a, const Operand &b, DType (*computed)(DType),
             Value (*f)(const Operands &)) {
  return applyOperands(op, {a, b},
                       [op, computed, f](const OperandList &v) { return f(fit(op, v[0], v[1], computed)); });
}

Value length(const Operands &o) {
  Trace &t = tracing();
  Value larger = t.binary("maximum", t.unary("abs", o.a), t.unary("abs", o.b));
  Value hasLength = t.compare(ComparePredicate::gt, larger, zeroOf(larger)), infinite = isInfinite(larger);
  Value isPlain = t.binary("and", hasLength, t.unary("not", infinite));
  Value scale = t.stopGradient(t.select(isPlain, larger, scalarLike(1.0, larger)));
  Value a = t.binary("div", o.a, scale), b = t.binary("div", o.b, scale);
  Value squares = t.binary("add", t.binary("mul", a, a), t.binary("mul", b, b));
  Value anyInfinite = t.binary("or", isInfinite(o.a), isInfinite(o.b)); // beside a NaN too
  return t.select(anyInfinite, scalarLike(HUGE_VAL, larger), t.binary("mul", scale, t.unary("sqrt", squares)));
}

Value logSum(const Operands &o) {
  Trace &t = tracing();
  // The difference of equal infinities is NaN.
  Value isEqual = t.compare(ComparePredicate::eq, o.a, o.b);
  Value distance = t.unary("abs", t.select(isEqual, zeroOf(o.a), t.binary("sub", o.a, o.b)));
  return t.binary("add", t.binary("maximum", o.a, o.b), t.unary("log1p", t.unary("exp", t.unary("neg", distance))));
}

Value takesBits(const char *op, const Value &x) {
  if (is_float(x.dtype()))
    throw Error(ErrorKind::type_error, fmt::format("{} takes integers or bools, got {}", op, name(x.dtype())));
  return x;
}
bool isBool(const Operand &operand) {
  return operand.is_number() ? operand.number().kind() == Number::Kind::boolean
                             : operand.value().dtype() == DType::bool_;
}
void requireBits(const char *op, const Operand &operand) {
  if (!operand.is_number())
    takesBits(op, operand.value());
}
/// For bools it is the logical operation `op`, and is recorded as such.
Value bitwise(const char *name, const char *op, const Operand &a, const Operand &b) {
  return applyOperands(isBool(a) && isBool(b) ? op : name, {a, b}, [name, op](const OperandList &v) {
    for (const Operand &operand : v)
      requireBits(name, operand);
    Operands o = fit(name, v[0], v[1]);
    return tracing().binary(op, takesBits(name, o.a), o.b);
  });
}
Value shift(const char *name, std::string_view op, const Operand &a, const Operand &b) {
  return applyOperands(name, {a, b}, [name, op](const OperandList &v) {
    for (const Operand &operand : v)
      requireBits(name, operand);
    Operands o = fit(name, v[0], v[1], numberOf);
    return tracing().binary(op, takesBits(name, o.a), o.b);
  });
}

} // namespace

namespace ops {

Value reciprocal(const Value &x) {
  return applyOne("reciprocal", {x}, [](const List &v) {
    Value y = asFloat(v[0]);
    return tracing().binary("div", scalarLike(1.0, y), y);
  });
}
Value floor_divide(const Operand &a, const Operand &b) { return binary("floor_divide", a, b, numberOf, floorQuotient); }
Value mod(const Operand &a, const Operand &b) { return binary("mod", a, b, numberOf, floorRest); }
Value hypot(const Operand &a, const Operand &b) { return binary("hypot", a, b, floatOf, length); }
Value logaddexp(const Operand &a, const Operand &b) { return binary("logaddexp", a, b, floatOf, logSum); }
Value trunc(const Value &x) {
  return applyOne("trunc", {x}, [](const List &v) {
    if (!is_float(v[0].dtype()))
      return v[0];
    return tracing().select(isNegative(v[0]), tracing().unary("ceil", v[0]), tracing().unary("floor", v[0]));
  });
}

Value bitwise_and(const Operand &a, const Operand &b) { return bitwise("bitwise_and", "and", a, b); }
Value bitwise_or(const Operand &a, const Operand &b) { return bitwise("bitwise_or", "or", a, b); }
Value bitwise_xor(const Operand &a, const Operand &b) { return bitwise("bitwise_xor", "xor", a, b); }
Value bitwise_not(const Value &x) {
  return applyOne("bitwise_not", {x},
                  [](const List &v) { return tracing().unary("not", takesBits("bitwise_not", v[0])); });
}
Value bitwise_invert(const Value &x) { return bitwise_not(x); }
Value left_shift(const Operand &a, const Operand &b) { return shift("left_shift", "shl", a, b); }
Value right_shift(const Operand &a, const Operand &b) { return shift("right_shift", "shr", a, b); }
Value bitwise_left_shift(const Operand &a, const Operand &b) { return left_shift(a, b); }
Value bitwise_right_shift(const Operand &a, const Operand &b) { return right_shift(a, b); }

Value isnan(const Value &x) {
  return applyOne("isnan", {x}, [](const List &v) {
    Value y = asFloat(v[0]);
    return tracing().compare(ComparePredicate::ne, y, y);
  });
}
Value isinf(const Value &x) {
  return applyOne("isinf", {x}, [](const List &v) { return isInfinite(asFloat(v[0])); });
}
Value nan_to_num(const Value &x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  return applyOne("nan_to_num", {x}, [=](const List &v) {
    Trace &t = tracing();
    const Value &y = v[0];
    if (!is_float(y.dtype()))
      return y;
    const double largest = largestFinite(y.dtype());
    Value infinite =
        t.select(isNegative(y), scalarLike(neginf.value_or(-largest), y), scalarLike(posinf.value_or(largest), y));
    Value finite = t.select(isInfinite(y), infinite, y);
    return t.select(t.compare(ComparePredicate::ne, y, y), scalarLike(nan, y), finite);
  });
}

} // namespace ops
} // namespace halftone
