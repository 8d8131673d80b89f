// Draws tables in Keras's box style, for reports.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

/// The first row is the header; all rows have equally many cells. `lineLength` is the width of the table in characters,
/// 0 for the width of its cells. A cell that is wider than its column goes on in further lines, broken at a space if it
/// has one. value_error when a column has fewer than four characters.
std::string boxTable(const std::vector<std::vector<std::string>> &rows, int64_t lineLength = 0,
                     std::string_view numbers = {});

} // namespace halftone::detail
