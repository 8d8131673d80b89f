// Escapes text and writes tables.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/Markup.h"
#include "frontend/base/ReportWords.h"
#include <cstdint>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

/// The length of the UTF-8 character at the front of `text`; 0 if it is invalid or not allowed in XML.
size_t characterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t(0); };
  const uint8_t first = byte(0);
  if (first < 0x80)
    return first >= 0x20 || first == '\t' || first == '\n' ? (first != 0x7f ? 1 : 0) : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4)
    return 0;
  uint32_t code = first & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const uint32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  const bool isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return code < least || code > 0x10ffff || isSurrogate || code == 0xfffe || code == 0xffff ? 0 : length;
}

} // namespace

std::string escaped(std::string_view text) {
  std::string markup;
  while (!text.empty()) {
    const size_t length = characterLength(text);
    if (length == 0)
      markup += "\uFFFD";
    else if (text[0] == '<')
      markup += "&lt;";
    else if (text[0] == '>')
      markup += "&gt;";
    else if (text[0] == '&')
      markup += "&amp;";
    else if (text[0] == '"')
      markup += "&quot;";
    else
      markup += text.substr(0, length);
    text.remove_prefix(length ? length : 1);
  }
  return markup;
}

Cell Cell::count(int64_t count) { return {withCommas(count), std::to_string(count)}; }
Cell Cell::bytes(int64_t bytes) { return {bytes ? sizeText(bytes) : "0", std::to_string(bytes)}; }

Cell shareCell(double share) {
  return {fmt::format("<span class=\"share\"><i style=\"width:{:.2f}%\"></i></span>{:.1f} %", 100 * share, 100 * share),
          fmt::format("{:.9f}", share)};
}

std::string tableMarkup(const std::vector<Column> &columns, const std::vector<std::vector<Cell>> &rows) {
  std::string markup = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const Column &column : columns)
    markup += fmt::format("<th{}><button>{}</button></th>", column.isNumber ? " class=\"number\"" : "", column.title);
  markup += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell> &row : rows) {
    markup += "<tr>";
    for (size_t i = 0; i < row.size(); ++i)
      markup += fmt::format("<td{}{}>{}</td>", columns[i].isNumber ? " class=\"number\"" : "",
                            row[i].key.empty() ? "" : fmt::format(" data-key=\"{}\"", row[i].key), row[i].markup);
    markup += "</tr>\n";
  }
  return markup + "</tbody></table></div>\n";
}

} // namespace halftone::detail
