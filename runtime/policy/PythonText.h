// Python's reading of integers and writing of strings, which policy names and error texts follow.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halftone {

/// int(text): blanks around, a sign, digits with single underscores between them. Accepts only digits of ASCII and
/// integers of 64 bits.
std::optional<int64_t> pythonInteger(std::string_view text);

/// repr(text): in single quotes, or in double quotes if it holds single quotes and no double ones; backslashes and
/// control characters are escaped.
std::string pythonRepr(std::string_view text);

/// repr(value): 2.0, 1e-07.
std::string pythonRepr(double value);

} // namespace halftone
