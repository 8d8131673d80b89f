// The commands of halftone-policy.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Output.h"
#include <string>

namespace halftone::tools {

struct Arguments {
  std::string command, subject; // a name or a file; "" for show of everything
  std::string output = "-", global = "float32";
  bool json = false, quiet = false, strict = false;
};

ExitCode show(const Arguments &arguments);
ExitCode lint(const Arguments &arguments);
ExitCode convert(const Arguments &arguments);

} // namespace halftone::tools
