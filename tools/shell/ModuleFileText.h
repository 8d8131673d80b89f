// Reads files of modules, in text or in bytecode.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <string>
#include <string_view>
#include <vector>

namespace halftone::tools {

/// The text of the module in a file, or in stdin if `path` is "-". checkModuleText() accepts it. Bytecode becomes text
/// with locations in a process of its own, halftone-bytecode, since MLIR's reader of bytecode corrupts its process on
/// files with wrong bytes. `dialects` are the options of mlir-opt about dialects that this process was given. io_error
/// with the path and the system's reason; value_error for bytecode or text that is refused.
StatusOr<std::string> loadModuleText(const std::string &path, const std::vector<std::string> &dialects = {});

/// checkModuleText() on a file that MLIR reads by itself. io_error as above.
Status checkTextFile(const std::string &path);

} // namespace halftone::tools
