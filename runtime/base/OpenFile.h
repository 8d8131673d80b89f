// Opens files for reading. The whole project opens files through this header, and through WriteFile.h for writing.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

namespace halftone {

/// An owned file descriptor, closed by the destructor.
class OpenFile {
public:
  explicit OpenFile(int number = -1) : number_(number) {}
  OpenFile(OpenFile &&other) noexcept : number_(other.release()) {}
  OpenFile &operator=(OpenFile &&other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~OpenFile() { (void)close(); }
  /// Negative if there is no file.
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Releases ownership of the descriptor to the caller.
  int release() { return std::exchange(number_, -1); }
  /// Returns false if closing fails; some file systems report only then that the data did not fit.
  bool close();

private:
  int number_;
};

/// value_error for a path with a null byte, at which a system call would truncate it.
Status checkPath(const std::string &path);

/// How to treat a symlink as the last component of a path.
enum class Symlink { followed, refused };

/// Opens a regular file for reading. Any other kind of file is refused before it is opened: a FIFO would block, and a
/// device may be endless. io_error with the path and the reason; value_error as checkPath().
StatusOr<OpenFile> openFile(const std::string &path, Symlink symlink = Symlink::followed);

/// The whole contents of a regular file. io_error as for openFile(), for a file of more than `maxBytes` bytes, and for
/// a file that does not fit in the free memory.
StatusOr<std::string> readFile(const std::string &path, int64_t maxBytes = std::numeric_limits<int64_t>::max());

/// dlopen(). io_error with the loader's reason. Errors as openFile() for a file that is not regular, since the loader
/// would block on a FIFO.
StatusOr<void *> openLibrary(const std::string &path, int flags);

/// Fills `bytes` with the next bytes of the file and returns their number; negative, with errno set, on a system error.
int64_t readInto(const OpenFile &file, std::string &bytes);

/// Like readInto(), from `offset` on. It neither reads nor changes the file's position, so threads may share the file.
int64_t readAt(const OpenFile &file, int64_t offset, std::span<char> bytes);

} // namespace halftone
