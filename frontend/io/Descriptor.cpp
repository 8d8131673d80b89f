// Opens, reads and writes files by the system's calls.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/Descriptor.h"
#include "halftone/Error.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halftone::detail {

[[noreturn]] static void fail(const std::string &name, const char *what) {
  throw Error(ErrorKind::io_error, fmt::format("{}: {}: {}", name, what, std::strerror(errno)));
}

Descriptor::~Descriptor() {
  if (number_ >= 0)
    ::close(number_);
}

Descriptor Descriptor::memory(const std::string &name) {
  Descriptor file(::memfd_create("halftone", MFD_CLOEXEC));
  if (file.number_ < 0)
    fail(name, "the system gives no file in memory");
  return file;
}

Descriptor Descriptor::reading(const std::string &path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number_ < 0)
    throw Error(ErrorKind::io_error, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return file;
}

Descriptor Descriptor::copy(const std::string &name, int least) const {
  Descriptor copy(::fcntl(number_, F_DUPFD_CLOEXEC, least));
  if (copy.number_ < 0)
    fail(name, "cannot read");
  return copy;
}

int64_t Descriptor::size(const std::string &name) const {
  struct stat facts{};
  if (::fstat(number_, &facts) != 0)
    fail(name, "cannot read");
  return facts.st_size;
}

std::shared_ptr<MappedFile> Descriptor::mapped(const std::string &name) const {
  StatusOr<std::shared_ptr<MappedFile>> bytes = MappedFile::open(number_);
  if (!bytes.isOk())
    throw Error(ErrorKind::io_error, fmt::format("{}: cannot map: {}", name, bytes.status().message()));
  return *bytes;
}

void Descriptor::readAt(int64_t offset, std::span<std::byte> to, const std::string &name) const {
  while (!to.empty()) {
    const ssize_t count = ::pread(number_, to.data(), to.size(), offset);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      fail(name, "cannot read");
    if (count == 0)
      throw Error(ErrorKind::io_error,
                  fmt::format("{}: the file ends at byte {}; expected {} more", name, offset, to.size()));
    to = to.subspan(static_cast<size_t>(count));
    offset += count;
  }
}

void Descriptor::writeAt(int64_t offset, std::span<const std::byte> from, const std::string &name) const {
  while (!from.empty()) {
    const ssize_t count = ::pwrite(number_, from.data(), from.size(), offset);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      fail(name, "cannot write");
    from = from.subspan(static_cast<size_t>(count));
    offset += count;
  }
}

} // namespace halftone::detail
