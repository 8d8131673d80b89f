// Quotes text for command lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace halftone::tools {

/// The text as one word of a POSIX shell: in single quotes, unless all of its characters stand for themselves anywhere.
std::string shellWord(std::string_view text);

} // namespace halftone::tools
