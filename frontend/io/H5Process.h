// Runs halftone-h5, the program that parses and lays out HDF5.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/Descriptor.h"
#include <functional>
#include <string>
#include <vector>

namespace halftone::detail {

/// Runs the program (runtime/base/ChildProgram.h) with `arguments` on `file`, with `input` as stdin, and returns its
/// exit status. Its output goes to `take` in chunks; if `take` throws, the program is killed. io_error, beginning with
/// `name`, if the program cannot be started or is terminated by a signal.
int runH5(const Descriptor &file, const std::vector<std::string> &arguments, const std::string &input,
          const std::function<void(std::string_view)> &take, const std::string &name);

} // namespace halftone::detail
