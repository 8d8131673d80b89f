// POSIX shell quoting: within single quotes, every character except the single quote is literal.
// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/ShellWord.h"

namespace halftone::tools {

std::string shellWord(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./,:@%";
  if (!text.empty() && text.find_first_not_of(plain) == text.npos)
    return std::string(text);
  std::string word = "'";
  for (char c : text)
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

} // namespace halftone::tools
