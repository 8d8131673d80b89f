// Numbers as Python's format() writes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace halftone::detail {

/// format(value, spec): "04d", ",", ".1%", "_x". The locale is C. value_error, in Python's words, for what is no format of an
/// integer, and for a width or a precision above 255, which no file's name has.
std::string pythonFormat(int64_t value, std::string_view spec);
/// The same of a float.
std::string pythonFormat(double value, std::string_view spec);

} // namespace halftone::detail
