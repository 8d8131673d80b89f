// Numbers of C++ and dtypes: which number an integer dtype holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"
#include "halftone/Number.h"
#include <string>
#include <string_view>

namespace halftone {

/// Where a number lies: below the range of the integer `dtype`, inside it, or above it. NaN lies above.
enum class Place : uint8_t { below, inside, above };
Place placeIn(DType dtype, const Number &number);
/// Whether the number is integral and fits in 64 bits, so that Python would treat it as an int.
bool isWhole(const Number &number);
/// value_error if `dtype` is an integer whose range does not hold the number without its fraction. `who` needs the number.
void requireHolds(std::string_view who, DType dtype, const Number &number);
std::string numberText(const Number &number);

} // namespace halftone
