// Files that are installed beside the library.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

namespace halftone {

/// The file that holds the library's code: the shared library, or a program that holds the rooms.
std::filesystem::path ownFile();
/// libexec/halftone/`name` in a folder above ownFile(); "" if the process may access none so (`mode` of access()).
std::string libexecFile(const std::string &name, int mode);

} // namespace halftone
