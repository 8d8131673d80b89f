// The one way to write a file as a whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <initializer_list>
#include <string>
#include <string_view>

namespace halftone {

/// Writes the parts, one after another, as the contents of `path`; io_error with the path and the system's reason.
///
/// - What is no regular file (a device, a FIFO, one of this process's open files by /dev/stdout or /dev/fd/N) is
/// written to
///   and stays what it is.
/// - Symlinks are followed, also those whose end does not exist yet.
/// - A regular file is replaced by one that was written beside it, so that readers see the old contents or the new, and
/// a
///   write that fails leaves the old. It keeps mode, owner and group; a new file has what the umask leaves of 0666.
/// - Where no file can stand beside it, or mode, owner or further names (hard links) would be lost, it is written in
/// place,
///   after room for the new contents was reserved. A file that may not be written is an error in every case.
Status writeFile(const std::string &path, std::initializer_list<std::string_view> parts);

} // namespace halftone
