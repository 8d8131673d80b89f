// Quotes text for command lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace halftone::tools {

/// The text as one POSIX shell word: single-quoted, unless none of its characters is special anywhere.
std::string shellWord(std::string_view text);

} // namespace halftone::tools
