// Formats numbers as Python's format() does.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace halftone::detail {

/// format(value, spec): "04d", ",", ".1%", "_x", in the C locale. value_error, in Python's words, for a specification
/// that is invalid for integers, and for a width or precision above 255, which no file name can have.
std::string pythonFormat(int64_t value, std::string_view spec);
/// The same for floats.
std::string pythonFormat(double value, std::string_view spec);

} // namespace halftone::detail
