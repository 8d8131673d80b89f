// The commands of halftone-policy.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Output.h"
#include "tools/halftone-run/UsageError.h"
#include <set>
#include <string>

namespace halftone::tools {

struct Arguments {
  std::string command, subject; // subject: a name or a file; "": show lists all names
  std::set<std::string> given;  // options on the command line, by long name
  bool json = false, quiet = false, verbose = false;
  std::string global = "float32";      // lint, convert, resolve
  std::string output = "-";            // convert
  std::string model, device = "cpu";   // lint; "" without --model
  bool strict = false;                 // lint
  std::string policy, policyMap, path; // resolve; "" if not given
};

ExitCode show(const Arguments &arguments);
ExitCode lint(const Arguments &arguments);
ExitCode convert(const Arguments &arguments);
ExitCode resolve(const Arguments &arguments);

/// Writes a line to stderr if -v is given.
void tell(const Arguments &arguments, const std::string &what);

} // namespace halftone::tools
