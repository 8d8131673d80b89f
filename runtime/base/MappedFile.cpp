// Maps files.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/MappedFile.h"
#include "runtime/base/OpenFile.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace halftone {

StatusOr<std::shared_ptr<MappedFile>> MappedFile::open(const std::string &path) {
  const StatusOr<OpenFile> file = openFile(path);
  HALFTONE_RETURN_IF_ERROR(file.status());
  return open(file->number(), path);
}

StatusOr<std::shared_ptr<MappedFile>> MappedFile::open(int descriptor, const std::string &name) {
  const auto failure = [&] {
    return Status(ErrorKind::io_error, fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  };
  struct stat status;
  if (::fstat(descriptor, &status) != 0)
    return failure();
  const auto size = static_cast<size_t>(status.st_size);
  void *memory = nullptr;
  if (size > 0)
    memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
  if (memory == MAP_FAILED)
    return failure();
  return std::shared_ptr<MappedFile>(new MappedFile(std::span(static_cast<std::byte *>(memory), size)));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty())
    (void)::munmap(bytes_.data(), bytes_.size());
}

} // namespace halftone
