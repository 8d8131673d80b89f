// Range checks of numbers against integer dtypes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"
#include "halftone/Number.h"
#include <string>
#include <string_view>

namespace halftone {

/// The position of a number relative to the range of the integer `dtype`: below, inside or above it. NaN is above.
enum class RangePosition : uint8_t { below, inside, above };
RangePosition positionIn(DType dtype, const Number &number);
/// Returns true if the number is integral and fits in 64 bits, so that Python would treat it as an int.
bool isWhole(const Number &number);
/// value_error if `dtype` is an integer dtype whose range excludes the truncated number. The message begins with
/// `caller`.
void requireHolds(std::string_view caller, DType dtype, const Number &number);
std::string numberText(const Number &number);

} // namespace halftone
