// Python's parsing of integers and formatting of strings, which policy names and error texts follow.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halftone {

/// int(text): surrounding whitespace, a sign, digits with single underscores between them. Accepts only ASCII digits
/// and 64-bit integers.
std::optional<int64_t> pythonInteger(std::string_view text);

/// repr(text): in single quotes, or in double quotes if it contains single quotes and no double quotes; backslashes and
/// control characters are escaped.
std::string pythonRepr(std::string_view text);

/// repr(value): 2.0, 1e-07.
std::string pythonRepr(double value);

} // namespace halftone
