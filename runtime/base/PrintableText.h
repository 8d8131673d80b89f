// Escapes names for terminals and line-based readers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace halftone {

/// The text with control characters, bytes that belong to no UTF-8 character, quotes and backslashes escaped as in MLIR
/// strings: `\` and two hexadecimal digits per byte; `\\` for a backslash.
std::string printable(const std::string &text);

} // namespace halftone
