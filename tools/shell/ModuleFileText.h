// Reads module files, as text or bytecode.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <string>
#include <string_view>
#include <vector>

namespace halftone::tools {

/// The text of the module in a file, or in stdin if `path` is "-". It passes checkModuleText(). Bytecode is converted
/// to text with locations in a separate process, halftone-bytecode, since MLIR's bytecode reader corrupts memory on
/// malformed files. `dialects` holds this process's mlir-opt options about dialects. io_error with the path and the
/// system's reason; value_error for rejected bytecode or text.
StatusOr<std::string> loadModuleText(const std::string &path, const std::vector<std::string> &dialects = {});

/// checkModuleText() of a file that MLIR reads itself. io_error as above.
Status checkTextFile(const std::string &path);

} // namespace halftone::tools
