// How Python reads integers and writes strings, which names of policies and error texts follow.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halftone {

/// int(text): blanks around, a sign, digits with single underscores between them. Only digits of ASCII, and only
/// integers of 64 bits.
std::optional<int64_t> pythonInteger(std::string_view text);

/// repr(text): in single quotes, or in double ones when it holds single ones only; backslashes and control characters
/// escaped.
std::string pythonRepr(std::string_view text);

/// repr(value): 2.0, 1e-07.
std::string pythonRepr(double value);

} // namespace halftone
