// Names as text that a terminal and a reader of lines can take.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace halftone {

/// The text with each control character, each byte that belongs to no UTF-8 character, each quote and each backslash as MLIR writes
/// them in strings: `\` and two hexadecimal digits a byte; a backslash as `\\`.
std::string printable(const std::string &text);

} // namespace halftone
