// The words of HTML and SVG that all sections of a report share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

/// `text` as characters of XML and of attribute values in double quotes. U+FFFD stands for each byte that is not UTF-8
/// and for each character that XML does not have.
std::string escaped(std::string_view text);

/// A cell of a table: its markup, and if the rows are sorted by another text or by a number, that key.
struct Cell {
  Cell(std::string markup, std::string key = {}) : markup(std::move(markup)), key(std::move(key)) {}
  static Cell text(std::string_view text) { return {escaped(text)}; }
  static Cell count(int64_t count); // with commas
  static Cell bytes(int64_t bytes); // "1.21 KB"
  std::string markup, key;
};

struct Column {
  std::string title; // markup
  bool isNumber = false;
};

/// A table whose rows the page sorts when somebody clicks a title.
std::string tableMarkup(const std::vector<Column> &columns, const std::vector<std::vector<Cell>> &rows);

/// A bar beside its share, 0 to 1, in percent.
Cell shareCell(double share);

} // namespace halftone::detail
