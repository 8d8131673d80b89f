// Compares C++ numbers with the ranges of integer dtypes.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Number.h"
#include "halftone/Error.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone {

void detail::refuse_wide(const char *argument, uint64_t value) {
  throw Error(ErrorKind::value_error, fmt::format("{} is {}; expected at most {}", argument, value, INT64_MAX));
}

RangePosition positionIn(DType dtype, const Number &number) {
  const bool isUnsigned = name(dtype).starts_with("u");
  const int bits = static_cast<int>(itemsize(dtype)) * 8 - (isUnsigned ? 0 : 1);
  if (number.kind() == Number::Kind::real) {
    if (number.real() < (isUnsigned ? 0.0 : -std::ldexp(1.0, bits)))
      return RangePosition::below;
    return number.real() < std::ldexp(1.0, bits) ? RangePosition::inside : RangePosition::above;
  }
  // A signed dtype has as many values below 0 as from 0 on.
  if (number.is_negative() && isUnsigned)
    return RangePosition::below;
  const uint64_t distance = number.is_negative() ? ~number.bits() : number.bits();
  const bool isInside = bits == 64 || distance >> bits == 0;
  return isInside ? RangePosition::inside : number.is_negative() ? RangePosition::below : RangePosition::above;
}

bool isWhole(const Number &number) {
  return number.kind() != Number::Kind::real ||
         (std::abs(number.real()) < 0x1p63 && number.real() == std::floor(number.real()));
}

void requireHolds(std::string_view caller, DType dtype, const Number &number) {
  if (is_float(dtype) || dtype == DType::bool_)
    return;
  const bool isReal = number.kind() == Number::Kind::real;
  if (positionIn(dtype, isReal ? Number(std::trunc(number.real())) : number) != RangePosition::inside)
    throw Error(ErrorKind::value_error,
                fmt::format("{}: {} cannot represent {}", caller, name(dtype), numberText(number)));
}

std::string numberText(const Number &number) {
  if (number.kind() == Number::Kind::real)
    return fmt::format("{}", number.real());
  return number.is_negative() ? fmt::format("{}", static_cast<int64_t>(number.bits()))
                              : fmt::format("{}", number.bits());
}

} // namespace halftone
