// Runs a child program: a program of this project that reads a file in this process's stead, and may die of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// A child program, which limits itself (tools/shell/Confine.h): to 1 GiB of memory and 20 s of CPU.
struct ChildProgram {
  std::string program, variable; // the program's name in libexec/halftone, the environment variable with another path
  std::string purpose;           // for errors: "reads HDF5 files"
  std::string reason = "the file is damaged, or needs more than the limits of memory and time"; // of an end by a signal
};

/// The path of the program: that in the environment variable, else libexec/halftone/`program` in a folder above this
/// code's own file (LibexecFile.h). io_error that names both if there is none.
StatusOr<std::string> programPath(const ChildProgram &child);

/// Runs the program. The open file `file` becomes its descriptor 3 and `input` its stdin; its stderr is lost. Pieces of
/// its output go to `take`; if that function fails or throws, the program is ended. Returns the exit status; io_error
/// that begins with `name` if the program cannot be started or ends by a signal; environmentError() if the program that
/// the variable names cannot be started.
StatusOr<int> runChildProgram(const ChildProgram &child, const std::vector<std::string> &arguments, int file, int input,
                              const std::function<Status(std::string_view)> &take, const std::string &name);

} // namespace halftone
