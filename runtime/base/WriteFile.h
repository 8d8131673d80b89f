// Writes whole files. All of the project writes through it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace halftone {

/// Writes the parts, one after another, as the contents of `path`; io_error with the path and the system's reason.
///
/// Devices, FIFOs, and this process's open files (/dev/stdout, /dev/fd/N): the parts go into the file, which stays.
///
/// Symlinks: the function follows them. The file at the end need not exist yet.
///
/// Regular files: the function writes a new file in the same folder and renames it. So readers see the old contents or
/// the new ones, and after a failure the old ones. Mode, owner and group stay. A file that did not exist gets mode 0666
/// without the bits of the umask.
///
/// If the folder takes no new file, or if a rename would lose mode, owner or other hard links, the function reserves
/// the room and writes in place.
///
/// If the process has no write permission for an existing file, the result is an error, even if the folder permits
/// new files.
Status writeFile(const std::string &path, std::initializer_list<std::string_view> parts);

/// Like writeFile(), but never writes a regular file in place: whenever the process dies, the path has the whole old
/// contents or the whole new ones. When the function returns, the new contents and the rename are on the disk.
///
/// If the folder takes no new file, or if a rename would lose mode or owner, the result is an error and the old file
/// stays. A rename leaves other hard links with the old contents. If the process dies, a file beside `path` may stay:
/// `.<name>.<process>.<number>`.
Status replaceFile(const std::string &path, std::span<const std::string_view> parts);

} // namespace halftone
