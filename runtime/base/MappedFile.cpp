// Maps files.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/MappedFile.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halftone {

/// Maps an open file; a failure has errno set.
static StatusOr<std::span<std::byte>> mapped(int file) {
  const auto failure = [] { return Status(ErrorKind::io_error, std::strerror(errno)); };
  struct stat status;
  if (::fstat(file, &status) != 0)
    return failure();
  if (S_ISDIR(status.st_mode))
    return Status(ErrorKind::io_error, "a directory");
  if (!S_ISREG(status.st_mode))
    return Status(ErrorKind::io_error, "something other than a regular file");
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0)
    return std::span<std::byte>();
  void *memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED)
    return failure();
  return std::span(static_cast<std::byte *>(memory), size);
}

StatusOr<std::shared_ptr<MappedFile>> MappedFile::open(const std::string &path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); // a FIFO would block
  if (file < 0)
    return Status(ErrorKind::io_error, std::strerror(errno));
  StatusOr<std::shared_ptr<MappedFile>> bytes = open(file);
  (void)::close(file);
  return bytes;
}

StatusOr<std::shared_ptr<MappedFile>> MappedFile::open(int descriptor) {
  const StatusOr<std::span<std::byte>> bytes = mapped(descriptor);
  HALFTONE_RETURN_IF_ERROR(bytes.status());
  return std::shared_ptr<MappedFile>(new MappedFile(*bytes));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty())
    (void)::munmap(bytes_.data(), bytes_.size());
}

} // namespace halftone
