// Files installed beside the library.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

namespace halftone {

/// The file that contains the library's code: the shared library, or a statically linked program.
std::filesystem::path ownFile();
/// libexec/halftone/`name` in a folder above ownFile(); "" if the process has access in `mode` (of access()) to none.
std::string libexecFile(const std::string &name, int mode);

} // namespace halftone
