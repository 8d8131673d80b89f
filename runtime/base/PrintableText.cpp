// Finds the UTF-8 characters of a text.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/PrintableText.h"
#include "runtime/base/JsonText.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace halftone {

/// The length in bytes of the character at `at`; 0 if there is none, or a control character.
static size_t characterAt(const std::string &text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80)
    return first >= ' ' && first != 0x7f && first != '"' ? 1 : 0;
  const auto bytes = static_cast<size_t>(std::countl_one(first));
  const std::string character = text.substr(at, bytes);
  const bool isControl = first == 0xc2 && character.size() == 2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return bytes >= 2 && bytes <= 4 && character.size() == bytes && isUtf8(character) && !isControl ? bytes : 0;
}

std::string printable(const std::string &text) {
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = characterAt(text, at);
    if (bytes == 0)
      shown += fmt::format("\\{:02X}", static_cast<unsigned char>(text[at]));
    else if (text[at] == '\\')
      shown += "\\\\";
    else
      shown.append(text, at, bytes);
    at += std::max<size_t>(bytes, 1);
  }
  return shown;
}

} // namespace halftone
