// Tables in Keras's box drawing, for reports.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

/// The first row is the header; all rows have as many cells. `lineLength` is how wide the table is: cells that are
/// wider than their column go on in further lines, at a space where there is one. 0: as wide as its cells. value_error
/// when a column has less than four characters.
std::string boxTable(const std::vector<std::vector<std::string>> &rows, int64_t lineLength = 0,
                     std::string_view numbers = {});

} // namespace halftone::detail
