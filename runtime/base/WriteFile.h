// Writes files. The whole project writes through this header: no write ends the process by a signal.
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

// In each function below, a write beyond the file size limit (SIGXFSZ), or to a pipe without a reader (SIGPIPE), is an
// error. A path with a null byte is a value_error; every other failure is an io_error with the path and the system's
// reason.

/// Writes the concatenated parts as the contents of `path`.
///
/// Devices, FIFOs, and this process's open files (/dev/stdout, /dev/fd/N): the parts are written to the existing file.
///
/// Symlinks: the function follows them. The target need not exist yet.
///
/// Regular files: the function writes a new file in the same folder and renames it. So readers see either the old
/// contents or the new ones and, after a failure, the old ones. Mode, owner and group are preserved. A new file gets
/// mode 0666 without the bits of the umask.
///
/// If no file can be created in the folder, or if a rename would lose mode, owner or other hard links, the function
/// reserves the space and writes in place.
///
/// If the process has no write permission for an existing file, the result is an error, even if the folder permits
/// new files.
Status writeFile(const std::string &path, std::initializer_list<std::string_view> parts);

/// Like writeFile(), but never writes a regular file in place: whenever the process dies, the path has either the
/// complete old contents or the complete new ones. When the function returns, the new contents and the rename are on
/// disk.
///
/// If no file can be created in the folder, or if a rename would lose the mode, the result is an error and the old file
/// stays. After a rename other hard links still have the old contents. A writable file of another user becomes this
/// user's if the system does not let it keep its owner; it keeps its permissions, and its group if this user is a
/// member.
///
/// The new file is unnamed until it is complete, so a process that dies meanwhile leaves nothing on disk. A file
/// `.<name>.<process>.<number>` beside `path` remains only if the process dies at the moment of the rename, or on a
/// file system without unnamed files (NFS).
Status replaceFile(const std::string &path, std::span<const std::string_view> parts);

/// Like replaceFile(), for a file that only this user may read and write, whatever existed before: a symlink is
/// replaced and not followed.
Status replaceOwnFile(const std::string &path, std::span<const std::string_view> parts);

/// Creates the folder and its missing parents. An existing folder is unchanged.
Status makeFolder(const std::string &path);

/// Writes all bytes at `offset` of an open file. `name` stands for the path in errors.
Status writeAt(int file, int64_t offset, std::string_view bytes, const std::string &name);

/// Writes text to a C stream, bypassing its buffer. On failure the buffer is dropped, so that process exit does not
/// fail on it again.
Status writeStream(std::FILE *stream, std::string_view text);

/// A file that is appended to while the program runs. It may be a FIFO or a device.
class GrowingFile {
public:
  GrowingFile() = default;
  /// Opens the file, creating it if necessary: at its end if `appends`, otherwise truncated.
  static StatusOr<GrowingFile> open(const std::string &path, bool appends);
  Status append(std::string_view text);

private:
  OpenFile file_;
  std::string path_;
};

} // namespace halftone
