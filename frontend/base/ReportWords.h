// Formatting of counts, sizes and kinds in reports.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Reports.h"
#include <string>
#include <vector>

namespace halftone::detail {

struct ValueSpec;

std::string withCommas(int64_t n);                           // "1,234"
std::string sizeText(int64_t bytes);                         // "1.21 KB"
std::string shapesText(const std::vector<ValueSpec> &specs); // "(None, 8)", "[(None, 3), (None, 4)]"; "?" for none
const char *kindName(CastLedger::Kind kind);                 // "rounding"

} // namespace halftone::detail
