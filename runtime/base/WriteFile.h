// Writes files. All of the project writes through it: no write ends the process by a signal.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/OpenFile.h"
#include "runtime/base/Status.h"
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace halftone {

// A write beyond the limit on file sizes (SIGXFSZ), or to a pipe that nobody reads (SIGPIPE), is an error of each function
// below. A path with a null byte is a value_error, and every other failure an io_error with the path and the system's reason.

/// Writes the parts, one after another, as the contents of `path`.
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
/// If the folder takes no new file, or if a rename would lose the mode, the result is an error and the old file stays. A
/// rename leaves other hard links with the old contents. A file of another user, which this one may write, becomes this
/// user's if the system does not let it keep its owner; it keeps its permissions, and its group if this user is a member.
///
/// The new contents have no name until they are complete, so the disk keeps nothing of a process that dies meanwhile. A file
/// `.<name>.<process>.<number>` beside `path` stays only if the process dies in the moment of the rename, or on a file system
/// that knows no files without a name (NFS).
Status replaceFile(const std::string &path, std::span<const std::string_view> parts);

/// Like replaceFile(), for a file that this user alone may read and write, whatever was there: a symlink is replaced and not
/// followed.
Status replaceOwnFile(const std::string &path, std::span<const std::string_view> parts);

/// Makes the folder, and those above it that are missing. A folder that is there stays as it is.
Status makeFolder(const std::string &path);

/// Writes all bytes at `offset` of an open file. `name` stands for the path in errors.
Status writeAt(int file, int64_t offset, std::string_view bytes, const std::string &name);

/// Writes text to a stream of the C library, past its buffer. If that fails, the buffer is dropped, so that the end of the
/// process does not fail at it again.
Status writeStream(std::FILE *stream, std::string_view text);

/// A file that grows while the program runs. FIFOs and devices may be such files.
class GrowingFile {
public:
  GrowingFile() = default;
  /// Opens the file, which is made if there is none: at its end if `appends`, else without its old contents.
  static StatusOr<GrowingFile> open(const std::string &path, bool appends);
  Status append(std::string_view text);

private:
  OpenFile file_;
  std::string path_;
};

} // namespace halftone
