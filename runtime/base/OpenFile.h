// Opens files for reading. All of the project opens files through it, and through WriteFile.h to write.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace halftone {

/// A file descriptor, closed at the end of the object's life.
class OpenFile {
public:
  explicit OpenFile(int number = -1) : number_(number) {}
  OpenFile(OpenFile &&other) noexcept : number_(other.release()) {}
  OpenFile &operator=(OpenFile &&other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~OpenFile() { (void)close(); }
  /// Negative without a file.
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Hands the descriptor over: the caller closes it.
  int release() { return std::exchange(number_, -1); }
  /// False if closing fails; some file systems report only then that the data did not fit.
  bool close();

private:
  int number_;
};

/// value_error if no call of the system takes the path: a path with a null byte, which the system would cut off there.
Status checkPath(const std::string &path);

/// What a symlink at the end of a path means.
enum class Symlink { followed, refused };

/// Opens a regular file for reading. Anything else is refused before it is opened: a FIFO would block, a device may have no
/// end. io_error with the path and the reason; value_error as checkPath().
StatusOr<OpenFile> openFile(const std::string &path, Symlink symlink = Symlink::followed);

/// The whole contents of a regular file. io_error as openFile(), for a file of more than `mostBytes` bytes, and for one that
/// does not fit into the free memory.
StatusOr<std::string> readFile(const std::string &path, int64_t mostBytes = std::numeric_limits<int64_t>::max());

/// dlopen(). io_error with the loader's reason; the errors of openFile() for a file that is no regular one: the loader would
/// wait for a FIFO.
StatusOr<void *> openLibrary(const std::string &path, int flags);

/// Fills `bytes` with the next bytes of the file and returns how many there were; negative, with errno set, if the system
/// fails.
int64_t readInto(const OpenFile &file, std::string &bytes);

} // namespace halftone
