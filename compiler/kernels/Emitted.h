// SSA values with overloaded operators, in which emitters write arithmetic.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace halftone::compiler {

/// A value of emitted code: a scalar or one-dimensional vector of floats or signless integers, or a pointer, with the
/// builder that adds the ops computed from it. Both operands of an operator have the same type; a C++ number operand
/// becomes a constant (a splat) of that type. Float comparisons are ordered (false for NaN) except `differs`, which is
/// true for NaN.
class Emitted {
public:
  Emitted() = default;
  Emitted(mlir::ImplicitLocOpBuilder &builder, mlir::Value value) : builder_(&builder), value_(value) {}
  /// A constant of `type`: rounded to nearest for floats, truncated to the width for integers.
  static Emitted constant(mlir::ImplicitLocOpBuilder &builder, mlir::Type type, double value);
  static Emitted constant(mlir::ImplicitLocOpBuilder &builder, mlir::Type type, int64_t value);

  operator mlir::Value() const { return value_; }
  mlir::Value value() const { return value_; }
  mlir::Type type() const { return value_.getType(); }
  mlir::ImplicitLocOpBuilder &builder() const { return *builder_; }
  explicit operator bool() const { return bool(value_); }
  bool isFloat() const;

  /// A constant of this value's type.
  template <class T> Emitted like(T value) const {
    if constexpr (std::is_floating_point_v<T>)
      return constant(*builder_, type(), double(value));
    else
      return isFloat() ? constant(*builder_, type(), double(value)) : constant(*builder_, type(), int64_t(value));
  }
  /// This value's type with `element` as its element type.
  mlir::Type typeOf(mlir::Type element) const;
  mlir::Type f32() const;
  mlir::Type f64() const;
  /// The integer type with this value's width.
  mlir::Type integer() const;
  unsigned width() const; // bits per element

  // Conversions to an element type.
  Emitted bits() const;                     // the same bits as an integer
  Emitted bitsAs(mlir::Type element) const; // the same bits as another element type of the same width
  Emitted extend(mlir::Type element) const; // floats
  Emitted narrow(mlir::Type element) const; // rounds floats, truncates integers
  Emitted widen(mlir::Type element) const;  // zero-extends integers
  Emitted widenSigned(mlir::Type element) const;

private:
  mlir::ImplicitLocOpBuilder *builder_ = nullptr;
  mlir::Value value_;
};

Emitted operator+(Emitted a, Emitted b);
Emitted operator-(Emitted a, Emitted b);
Emitted operator*(Emitted a, Emitted b);
Emitted operator/(Emitted a, Emitted b); // integers: signed
Emitted operator%(Emitted a, Emitted b); // integers, signed
Emitted operator&(Emitted a, Emitted b);
Emitted operator|(Emitted a, Emitted b);
Emitted operator^(Emitted a, Emitted b);
Emitted operator<<(Emitted a, Emitted b);
Emitted operator>>(Emitted a, Emitted b); // logical
Emitted operator<(Emitted a, Emitted b);  // integers: signed
Emitted operator<=(Emitted a, Emitted b);
Emitted operator>(Emitted a, Emitted b);
Emitted operator>=(Emitted a, Emitted b);
Emitted equal(Emitted a, Emitted b);
Emitted differs(Emitted a, Emitted b);
Emitted operator-(Emitted a);
Emitted isLessUnsigned(Emitted a, Emitted b);
Emitted negated(Emitted a); // logical not of an i1

#define HALFTONE_EMITTED_OPERATOR(op)                                                                                  \
  template <class T>                                                                                                   \
    requires std::is_arithmetic_v<T>                                                                                   \
  Emitted operator op(Emitted a, T b) {                                                                                \
    return a op a.like(b);                                                                                             \
  }                                                                                                                    \
  template <class T>                                                                                                   \
    requires std::is_arithmetic_v<T>                                                                                   \
  Emitted operator op(T a, Emitted b) {                                                                                \
    return b.like(a) op b;                                                                                             \
  }
HALFTONE_EMITTED_OPERATOR(+)
HALFTONE_EMITTED_OPERATOR(-)
HALFTONE_EMITTED_OPERATOR(*)
HALFTONE_EMITTED_OPERATOR(/)
HALFTONE_EMITTED_OPERATOR(%)
HALFTONE_EMITTED_OPERATOR(&)
HALFTONE_EMITTED_OPERATOR(|)
HALFTONE_EMITTED_OPERATOR(^)
HALFTONE_EMITTED_OPERATOR(<<)
HALFTONE_EMITTED_OPERATOR(>>)
HALFTONE_EMITTED_OPERATOR(<)
HALFTONE_EMITTED_OPERATOR(<=)
HALFTONE_EMITTED_OPERATOR(>)
HALFTONE_EMITTED_OPERATOR(>=)
#undef HALFTONE_EMITTED_OPERATOR

Emitted select(Emitted condition, Emitted a, Emitted b);
Emitted minimum(Emitted a, Emitted b);            // signed integers
Emitted maximum(Emitted a, Emitted b);            // signed integers
Emitted minimumUnsigned(Emitted a, Emitted b);    // integers
Emitted divideUnsigned(Emitted a, Emitted b);     // integers
Emitted remainderUnsigned(Emitted a, Emitted b);  // integers
Emitted ceilDivide(Emitted a, Emitted b);         // signed, non-negative integers
Emitted ceilDivideUnsigned(Emitted a, Emitted b); // integers
Emitted shiftSigned(Emitted a, int64_t amount);
Emitted toFloat(Emitted a, mlir::Type element); // signed integers
Emitted countLeadingZeros(Emitted a);
Emitted countTrailingZeros(Emitted a);
Emitted absolute(Emitted a);
Emitted copySign(Emitted magnitude, Emitted sign);
Emitted isNan(Emitted a);
Emitted isEitherNan(Emitted a, Emitted b);

} // namespace halftone::compiler
