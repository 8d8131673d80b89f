// keras.ops on Values: elementwise operations with promotion and broadcasting.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Ops.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone {
using namespace detail;
using List = std::vector<Value>;

namespace {

Value elementwise(std::string_view op, const Value &x) {
  return applyOne(std::string(op), {x}, [op](const List &v) { return tracing().unary(op, v[0]); });
}
/// Computes integers and bools in floatx, as Keras does.
Value floatElementwise(std::string_view op, const Value &x) {
  return applyOne(std::string(op), {x}, [op](const List &v) { return tracing().unary(op, asFloat(v[0])); });
}
/// An op that bools do not have; type_error for bools, as in Keras.
Value numberElementwise(std::string_view op, const char *name, const Value &x) {
  if (x.dtype() == DType::bool_)
    throw Error(ErrorKind::type_error, fmt::format("{} takes numbers, got bool", name));
  return elementwise(op, x);
}

/// `ofBools`: the op to use on bools, which then stay bools. Without it bools become int32.
Value binary(std::string_view op, const Value &a, const Value &b, std::string_view ofBools = "") {
  return applyOne(std::string(op), {a, b}, [op, ofBools](const List &v) {
    Operands o = fit(op, v[0], v[1]);
    if (o.a.dtype() != DType::bool_)
      return tracing().binary(op, o.a, o.b);
    return ofBools.empty() ? tracing().binary(op, asNumber(o.a), asNumber(o.b)) : tracing().binary(ofBools, o.a, o.b);
  });
}
Value floatBinary(std::string_view op, const Value &a, const Value &b) {
  return applyOne(std::string(op), {a, b}, [op](const List &v) {
    Operands o = fit(op, v[0], v[1]);
    return tracing().binary(op, asFloat(o.a), asFloat(o.b));
  });
}
Value compare(ComparePredicate predicate, const char *op, const Value &a, const Value &b) {
  return applyOne(op, {a, b}, [predicate, op](const List &v) {
    Operands o = fit(op, v[0], v[1]);
    return tracing().compare(predicate, o.a, o.b);
  });
}

enum class Side { left, right };
/// An op on a Value and a C++ scalar, which takes the Value's dtype. An integral scalar makes a bool Value int32; any
/// other scalar makes an integer Value a float.
Value withNumber(std::string_view op, const Value &x, const Number &number, Side side) {
  bool divide = op == "div";
  const auto f = [op, number, side, divide](const List &v) {
    Value value = divide || !isWhole(number) ? asFloat(v[0]) : asNumber(v[0]);
    Value other = scalarLike(number, value, op);
    return side == Side::right ? tracing().binary(op, value, other) : tracing().binary(op, other, value);
  };
  return applyOne(std::string(op), {x}, f, isSymbolic(x) ? formWithNumber(number, side == Side::left) : CallForm());
}
Value logical(std::string_view op, const Value &a, const Value &b) {
  return applyOne(std::string(op), {a, b}, [op](const List &v) {
    Operands o = fit(op, asDtype(v[0], DType::bool_), asDtype(v[1], DType::bool_));
    return tracing().binary(op, o.a, o.b);
  });
}

/// What each integer of `dtype` compares to if the whole number lies outside of its range: below it or above it.
bool comparesTo(ComparePredicate predicate, Place place) {
  const bool isLess = predicate == ComparePredicate::lt || predicate == ComparePredicate::le;
  const bool isGreater = predicate == ComparePredicate::gt || predicate == ComparePredicate::ge;
  return predicate == ComparePredicate::ne || (place == Place::above ? isLess : isGreater);
}
/// Compares integers with the number itself. One with a fraction lies between two of them: the order of the integers
/// and the number is that of the integers and the next one up or down.
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
  const Place place = placeIn(x.dtype(), whole);
  return place == Place::inside ? tracing().compare(predicate, x, scalarLike(whole, x))
                                : always(comparesTo(predicate, place));
}

} // namespace

Value detail::compareWith(ComparePredicate predicate, const Value &x, const Number &number) {
  static constexpr const char *names[] = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"};
  const auto f = [predicate, number](const List &v) {
    const Value y = asNumber(v[0]);
    return is_float(y.dtype()) ? tracing().compare(predicate, y, scalarLike(number, y))
                               : compareIntegers(predicate, y, number);
  };
  return applyOne(names[static_cast<size_t>(predicate)], {x}, f,
                  isSymbolic(x) ? formWithNumber(number, false) : CallForm());
}

Value operator+(const Value &a, const Value &b) { return binary("add", a, b, "or"); }
Value operator-(const Value &a, const Value &b) { return binary("sub", a, b); }
Value operator*(const Value &a, const Value &b) { return binary("mul", a, b, "and"); }
Value operator/(const Value &a, const Value &b) { return floatBinary("div", a, b); }
Value operator+(const Value &a, const Number &b) { return withNumber("add", a, b, Side::right); }
Value operator-(const Value &a, const Number &b) { return withNumber("sub", a, b, Side::right); }
Value operator*(const Value &a, const Number &b) { return withNumber("mul", a, b, Side::right); }
Value operator/(const Value &a, const Number &b) { return withNumber("div", a, b, Side::right); }
Value operator+(const Number &a, const Value &b) { return withNumber("add", b, a, Side::left); }
Value operator-(const Number &a, const Value &b) { return withNumber("sub", b, a, Side::left); }
Value operator*(const Number &a, const Value &b) { return withNumber("mul", b, a, Side::left); }
Value operator/(const Number &a, const Value &b) { return withNumber("div", b, a, Side::left); }
Value operator-(const Value &a) { return ops::negative(a); }

namespace ops {

Value cast(const Value &x, DType dtype) {
  if (isSymbolic(x))
    return recordOperation("Cast", {x}, configOf("dtype", dtype));
  return applyOne("cast", {x}, [dtype](const List &v) { return asDtype(v[0], dtype, "user"); });
}
Value add(const Value &a, const Value &b) { return a + b; }
Value subtract(const Value &a, const Value &b) { return a - b; }
Value multiply(const Value &a, const Value &b) { return a * b; }
Value divide(const Value &a, const Value &b) { return a / b; }
Value power(const Value &a, const Value &b) { return binary("pow", a, b); }
Value maximum(const Value &a, const Value &b) { return binary("maximum", a, b, "or"); }
Value minimum(const Value &a, const Value &b) { return binary("minimum", a, b, "and"); }
Value clip(const Value &x, const Number &x_min, const Number &x_max) {
  if (isSymbolic(x) && std::isfinite(x_min.real()) && std::isfinite(x_max.real())) { // JSON has no other numbers
    Config bounds = configOf("x_min", x_min);
    setField(bounds, "x_max", x_max);
    return recordOperation("Clip", {x}, bounds);
  }
  return applyOne("clip", {x}, [x_min, x_max](const List &v) {
    Value y = isWhole(x_min) && isWhole(x_max) ? asNumber(v[0]) : asFloat(v[0]);
    // A lower bound below the dtype's range, or an upper bound above it, bounds nothing.
    bool fromBelow = true, fromAbove = true;
    if (!is_float(y.dtype())) {
      fromBelow = placeIn(y.dtype(), x_min) != Place::below;
      fromAbove = placeIn(y.dtype(), x_max) != Place::above;
      for (auto [bounds, bound] : {std::pair(fromBelow, x_min), std::pair(fromAbove, x_max)})
        if (bounds && placeIn(y.dtype(), bound) != Place::inside)
          requireHolds("clip", y.dtype(), bound);
    }
    if (fromBelow)
      y = tracing().binary("maximum", y, scalarLike(x_min, y));
    return fromAbove ? tracing().binary("minimum", y, scalarLike(x_max, y)) : y;
  });
}
Value where(const Value &condition, const Value &a, const Value &b) {
  return applyOne("where", {condition, a, b}, [](const List &v) {
    Operands o = fit("where", v[1], v[2]);
    Shape shape = broadcastShape("where", v[0].shape(), o.a.shape());
    return tracing().select(broadcastTo(asDtype(v[0], DType::bool_), shape), broadcastTo(o.a, shape),
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
Value arctan2(const Value &x1, const Value &x2) { return floatBinary("atan2", x1, x2); }
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

Value equal(const Value &a, const Value &b) { return compare(ComparePredicate::eq, "equal", a, b); }
Value not_equal(const Value &a, const Value &b) { return compare(ComparePredicate::ne, "not_equal", a, b); }
Value less(const Value &a, const Value &b) { return compare(ComparePredicate::lt, "less", a, b); }
Value less_equal(const Value &a, const Value &b) { return compare(ComparePredicate::le, "less_equal", a, b); }
Value greater(const Value &a, const Value &b) { return compare(ComparePredicate::gt, "greater", a, b); }
Value greater_equal(const Value &a, const Value &b) { return compare(ComparePredicate::ge, "greater_equal", a, b); }
Value logical_and(const Value &a, const Value &b) { return logical("and", a, b); }
Value logical_or(const Value &a, const Value &b) { return logical("or", a, b); }
Value logical_xor(const Value &a, const Value &b) { return logical("xor", a, b); }
Value logical_not(const Value &x) {
  return applyOne("not", {x}, [](const List &v) { return tracing().unary("not", asDtype(v[0], DType::bool_)); });
}
Value isfinite(const Value &x) {
  return applyOne("isfinite", {x}, [](const List &v) { return tracing().isFinite(asFloat(v[0])); });
}

Value zeros_like(const Value &x) { return full_like(x, 0.0); }
Value ones_like(const Value &x) { return full_like(x, 1.0); }
Value full_like(const Value &x, const Number &value) {
  return applyOne(
      "full_like", {x}, [value](const List &v) { return scalarLike(value, v[0], "full_like"); },
      isSymbolic(x) ? formWithNumber(value, false) : CallForm());
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
