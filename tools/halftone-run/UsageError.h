// Exceptions of commands besides halftone::Error: a mistake on the command line (exit code 2), and the answer no (1).
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
