// SSA values with operators, so that emitted arithmetic reads as arithmetic.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace halftone::compiler {

/// A scalar or one-dimensional vector of floats or signless integers, and the place where results computed from it are
/// built. Both operands of an operator have one type; a C++ number beside a Number becomes a constant (a splat) of that
/// type. Comparisons of floats are ordered (false for NaN) except `differs`, which is true for NaN.
class Number {
public:
  Number() = default;
  Number(mlir::ImplicitLocOpBuilder &builder, mlir::Value value) : builder_(&builder), value_(value) {}
  /// A constant of `type`: rounded to nearest for floats, truncated to the width for integers.
  static Number constant(mlir::ImplicitLocOpBuilder &builder, mlir::Type type, double value);
  static Number constant(mlir::ImplicitLocOpBuilder &builder, mlir::Type type, int64_t value);

  operator mlir::Value() const { return value_; }
  mlir::Value value() const { return value_; }
  mlir::Type type() const { return value_.getType(); }
  mlir::ImplicitLocOpBuilder &builder() const { return *builder_; }
  explicit operator bool() const { return bool(value_); }
  bool isFloat() const;

  /// A constant of this number's type.
  template <class T> Number like(T value) const {
    if constexpr (std::is_floating_point_v<T>)
      return constant(*builder_, type(), double(value));
    else
      return isFloat() ? constant(*builder_, type(), double(value)) : constant(*builder_, type(), int64_t(value));
  }
  /// This number's type with another element type.
  mlir::Type typeOf(mlir::Type element) const;
  mlir::Type f32() const;
  mlir::Type f64() const;
  /// The integer type of this number's width.
  mlir::Type integer() const;
  unsigned width() const; // bits of an element

  // Conversions to an element type.
  Number bits() const;                     // the same bits as an integer
  Number bitsAs(mlir::Type element) const; // the same bits, of another element type of the same width
  Number extend(mlir::Type element) const; // floats
  Number narrow(mlir::Type element) const; // floats, integers
  Number widen(mlir::Type element) const;  // integers, unsigned
  Number widenSigned(mlir::Type element) const;
  Number toFloat(mlir::Type element) const; // from signed integers

private:
  mlir::ImplicitLocOpBuilder *builder_ = nullptr;
  mlir::Value value_;
};

Number operator+(Number a, Number b);
Number operator-(Number a, Number b);
Number operator*(Number a, Number b);
Number operator/(Number a, Number b); // integers: signed
Number operator%(Number a, Number b); // integers, signed
Number operator&(Number a, Number b);
Number operator|(Number a, Number b);
Number operator^(Number a, Number b);
Number operator<<(Number a, Number b);
Number operator>>(Number a, Number b); // logical
Number operator<(Number a, Number b);  // integers: signed
Number operator<=(Number a, Number b);
Number operator>(Number a, Number b);
Number operator>=(Number a, Number b);
Number equal(Number a, Number b);
Number differs(Number a, Number b);
Number operator-(Number a);
Number negated(Number a); // of i1

#define HALFTONE_NUMBER_OPERATOR(op)                                                                                   \
  template <class T>                                                                                                   \
    requires std::is_arithmetic_v<T>                                                                                   \
  Number operator op(Number a, T b) {                                                                                  \
    return a op a.like(b);                                                                                             \
  }                                                                                                                    \
  template <class T>                                                                                                   \
    requires std::is_arithmetic_v<T>                                                                                   \
  Number operator op(T a, Number b) {                                                                                  \
    return b.like(a) op b;                                                                                             \
  }
HALFTONE_NUMBER_OPERATOR(+)
HALFTONE_NUMBER_OPERATOR(-)
HALFTONE_NUMBER_OPERATOR(*)
HALFTONE_NUMBER_OPERATOR(/)
HALFTONE_NUMBER_OPERATOR(%)
HALFTONE_NUMBER_OPERATOR(&)
HALFTONE_NUMBER_OPERATOR(|)
HALFTONE_NUMBER_OPERATOR(^)
HALFTONE_NUMBER_OPERATOR(<<)
HALFTONE_NUMBER_OPERATOR(>>)
HALFTONE_NUMBER_OPERATOR(<)
HALFTONE_NUMBER_OPERATOR(<=)
HALFTONE_NUMBER_OPERATOR(>)
HALFTONE_NUMBER_OPERATOR(>=)
#undef HALFTONE_NUMBER_OPERATOR

Number select(Number condition, Number a, Number b);
Number minimum(Number a, Number b); // signed integers
Number maximum(Number a, Number b); // signed integers
Number shiftSigned(Number a, int64_t amount);
Number countLeadingZeros(Number a);
Number absolute(Number a);
Number copySign(Number magnitude, Number sign);
Number isNan(Number a);

} // namespace halftone::compiler
