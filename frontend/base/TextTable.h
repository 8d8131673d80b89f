// Draws tables in Keras's box style, for reports.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

/// Formats a table. The first row is the header; all rows have the same number of cells. `lineLength` is the width of
/// the table in characters, 0 for the width of its cells. A cell wider than its column is wrapped, at a space if it has
/// one. value_error if a column has fewer than four characters.
std::string boxTable(const std::vector<std::vector<std::string>> &rows, int64_t lineLength = 0,
                     std::string_view numbers = {});

} // namespace halftone::detail
