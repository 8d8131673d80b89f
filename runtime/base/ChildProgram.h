// Runs a child program, which parses a file in isolation: a crash there does not end this process.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// A child program. It limits itself (tools/shell/Confine.h) to 1 GiB of memory and 20 s of CPU time.
struct ChildProgram {
  std::string program, variable; // its name in libexec/halftone; the variable that overrides its path
  std::string purpose;           // for messages: "reads HDF5 files"
  std::string reason = "the file is damaged, or exceeds the limits on memory and time"; // of an end by a signal
};

/// The path of the program: the value of the environment variable or, if it is not set, libexec/halftone/`program` in a
/// folder above the file that contains this code (LibexecFile.h). io_error that names both if neither exists.
StatusOr<std::string> programPath(const ChildProgram &child);

/// Runs the program. The open file `file` becomes its descriptor 3 and `input` its stdin; its stderr is discarded.
/// Chunks of its output are passed to `take`; if that function fails or throws, the program is terminated. Returns the
/// exit status. io_error that begins with `name` if the program cannot be started or ends by a signal;
/// environmentError() if the program that the variable names cannot be started.
StatusOr<int> runChildProgram(const ChildProgram &child, const std::vector<std::string> &arguments, int file, int input,
                              const std::function<Status(std::string_view)> &take, const std::string &name);

} // namespace halftone
