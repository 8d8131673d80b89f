// Files installed beside the library.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

namespace halftone {

/// The file that contains the library's code: the shared library, or a statically linked program.
std::filesystem::path ownFile();
/// The path of libexec/halftone/`name` in a folder above ownFile(); "" if the process may access no such file in
/// `mode`, a mode of access().
std::string libexecFile(const std::string &name, int mode);

} // namespace halftone
