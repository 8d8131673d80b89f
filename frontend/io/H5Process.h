// Runs halftone-h5, the program that knows HDF5.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/Descriptor.h"
#include <functional>
#include <string>
#include <vector>

namespace halftone::detail {

/// Runs the program (runtime/base/ChildProgram.h) with `arguments` on `file`; its stdin is `input`. Pieces of its output go to `take`; if that
/// function throws, the program is ended. io_error beginning with `name` if the program does not end by itself.
/// Returns its exit status.
int runH5(const Descriptor &file, const std::vector<std::string> &arguments, const std::string &input,
          const std::function<void(std::string_view)> &take, const std::string &name);

} // namespace halftone::detail
