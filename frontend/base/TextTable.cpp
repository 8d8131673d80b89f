// Computes widths and draws the lines of tables.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/TextTable.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace halftone::detail {

namespace {

using Row = std::vector<std::string>;
constexpr size_t minWidth = 4; // as in Keras

bool isStart(char c) { return (c & 0xC0) != 0x80; } // true if a character starts at this byte; names may be UTF-8
size_t columns(const std::string &text) { return static_cast<size_t>(std::ranges::count_if(text, isStart)); }

/// Removes from `text` the prefix that fits into a column of `width` characters, and returns it.
std::string takeLine(std::string &text, size_t width) {
  size_t end = 0, space = std::string::npos;
  for (size_t count = 0; end < text.size(); ++end) {
    if (isStart(text[end]) && count++ == width)
      break;
    if (text[end] == ' ' && end > 0)
      space = end;
  }
  if (end == text.size())
    return std::exchange(text, "");
  if (text[end] == ' ')
    space = end;
  std::string line = text.substr(0, space == std::string::npos ? end : space);
  text.erase(0, space == std::string::npos ? end : space + 1);
  return line;
}

std::vector<size_t> widthsOf(const std::vector<Row> &rows, int64_t lineLength) {
  std::vector<size_t> widths(rows[0].size());
  for (const Row &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], columns(row[i]));
  if (lineLength == 0)
    return widths;
  const auto borders = static_cast<int64_t>(3 * widths.size() + 1);
  if (lineLength < borders + static_cast<int64_t>(minWidth * widths.size()))
    throw Error(ErrorKind::value_error, fmt::format("Insufficient console width to print summary. Received: "
                                                    "line_length={} for {} columns",
                                                    lineLength, widths.size()));
  const auto room = static_cast<size_t>(lineLength - borders);
  size_t total = std::accumulate(widths.begin(), widths.end(), size_t{0});
  for (; total > room; --total) // shortens the widest column first
    --*std::ranges::max_element(widths);
  for (size_t i = 0; total < room; ++total, ++i)
    ++widths[i % widths.size()];
  return widths;
}

} // namespace

std::string boxTable(const std::vector<Row> &rows, int64_t lineLength, std::string_view numbers) {
  const std::vector<size_t> widths = widthsOf(rows, lineLength);
  auto rule = [&](const char *left, const char *fill, const char *middle, const char *right) {
    std::string line = left;
    for (size_t i = 0; i < widths.size(); ++i) {
      for (size_t k = 0; k < widths[i] + 2; ++k)
        line += fill;
      line += i + 1 < widths.size() ? middle : right;
    }
    return line + "\n";
  };
  std::string text = rule("┏", "━", "┳", "┓");
  for (size_t r = 0; r < rows.size(); ++r) {
    const char *bar = r == 0 ? "┃" : "│";
    Row left = rows[r];
    do {
      for (size_t i = 0; i < widths.size(); ++i) {
        const std::string line = takeLine(left[i], widths[i]);
        const std::string blanks(widths[i] - columns(line), ' ');
        const bool right = rows[0][i] == numbers;
        text += fmt::format("{} {}{}{} ", bar, right ? blanks : "", line, right ? "" : blanks);
      }
      text += std::string(bar) + "\n";
    } while (std::ranges::any_of(left, [](const std::string &cell) { return !cell.empty(); }));
    if (r == 0)
      text += rule("┡", "━", "╇", "┩");
    else if (r + 1 < rows.size())
      text += rule("├", "─", "┼", "┤");
  }
  return text + rule("└", "─", "┴", "┘");
}

} // namespace halftone::detail
