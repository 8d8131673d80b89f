// The error for a file without the expected contents.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Error.h"
#include <fmt/format.h>
#include <string>

namespace halftone::detail {

[[noreturn]] inline void refuseFile(const std::string &path, const std::string &expected, const std::string &found) {
  throw Error(ErrorKind::io_error, fmt::format("Cannot read '{}': expected {}, found {}", path, expected, found));
}

} // namespace halftone::detail
