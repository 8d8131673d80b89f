// C++ numbers as arguments: integers that are never narrowed, and numbers as operands next to Values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Version.h"
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace halftone {
namespace detail {
/// The integer types of C++ except bool.
template <class I>
concept Whole = std::integral<I> && !std::same_as<std::remove_cv_t<I>, bool>;
[[noreturn]] HALFTONE_API void refuse_wide(const char *argument, uint64_t value);
/// Converts any integer to int64_t. value_error, which names the argument, above 2^63 - 1.
template <Whole I> constexpr int64_t whole(I value, const char *argument) {
  if constexpr (std::is_unsigned_v<I> && sizeof(I) >= sizeof(int64_t))
    if (value > static_cast<I>(INT64_MAX))
      refuse_wide(argument, value);
  return static_cast<int64_t>(value);
}
/// Integers, unscoped enumerations, and objects whose only conversion is to an integer.
template <class T>
concept promotes_to_integer = requires(const T &value) {
  { +value } -> std::integral;
};
} // namespace detail

/// A C++ number as an operand: integers are kept exactly, other numbers as a double.
class Number {
public:
  enum class Kind : uint8_t { boolean, integer, real };
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Number(T value) {
    if constexpr (std::same_as<T, bool>) {
      kind_ = Kind::boolean;
      bits_ = value;
    } else if constexpr (std::integral<T>) {
      kind_ = Kind::integer;
      const auto number = +value;
      bits_ = static_cast<uint64_t>(number);
      isNegative_ = number < 0;
    } else {
      real_ = static_cast<double>(value);
    }
  }
  template <class T>
    requires(!std::is_arithmetic_v<T> && std::convertible_to<T, double>)
  constexpr Number(const T &value) : Number(number_of(value)) {}
  constexpr Kind kind() const { return kind_; }
  /// The number, rounded if it is an integer above 2^53.
  constexpr double real() const {
    return kind_ == Kind::real ? real_
           : isNegative_       ? static_cast<double>(static_cast<int64_t>(bits_))
                               : static_cast<double>(bits_);
  }
  /// For an integer or a bool: whether it is negative, and its lowest 64 bits.
  constexpr bool is_negative() const { return isNegative_; }
  constexpr uint64_t bits() const { return bits_; }

private:
  template <class T> static constexpr auto number_of(const T &value) {
    if constexpr (detail::promotes_to_integer<T>)
      return +value;
    else
      return static_cast<double>(value);
  }
  Kind kind_ = Kind::real;
  bool isNegative_ = false;
  uint64_t bits_ = 0;
  double real_ = 0.0;
};
} // namespace halftone
