// Exceptions of commands besides halftone::Error: an invalid command line (exit code 2) and a negative answer (1).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>

namespace halftone::tools {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct NegativeAnswer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace halftone::tools
