// HTML and SVG helpers shared by all sections of a report.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

/// Escapes `text` for XML content and for attribute values in double quotes. U+FFFD replaces each byte that is not
/// UTF-8 and each character that XML does not allow.
std::string escaped(std::string_view text);

/// A table cell: its markup, and a sort key if the rows are not sorted by the text shown.
struct Cell {
  Cell(std::string markup, std::string key = {}) : markup(std::move(markup)), key(std::move(key)) {}
  static Cell text(std::string_view text) { return {escaped(text)}; }
  static Cell count(int64_t count); // with thousands separators
  static Cell bytes(int64_t bytes); // "1.21 KB"
  std::string markup, key;
};

struct Column {
  std::string title; // markup
  bool isNumber = false;
};

/// A table that the page sorts when a header is clicked.
std::string tableMarkup(const std::vector<Column> &columns, const std::vector<std::vector<Cell>> &rows);

/// A bar next to `share`, 0 to 1, as a percentage.
Cell shareCell(double share);

} // namespace halftone::detail
