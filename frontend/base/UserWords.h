// Translates MLIR diagnostics to the user's terms.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace halftone::detail {

/// "'halftone.select' op takes tensor<2x3xf32>" -> "select: takes float32 (2, 3)".
std::string inUsersWords(const std::string &diagnostics);

} // namespace halftone::detail
