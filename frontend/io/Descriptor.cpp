// Opens, reads and writes files through system calls.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/Descriptor.h"
#include "halftone/Error.h"
#include "runtime/base/WriteFile.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace halftone::detail {

[[noreturn]] static void fail(const std::string &name, const char *what) {
  throw Error(ErrorKind::io_error, fmt::format("{}: {}: {}", name, what, std::strerror(errno)));
}

Descriptor Descriptor::memory(const std::string &name) {
  OpenFile file(::memfd_create("halftone", MFD_CLOEXEC));
  if (!file)
    fail(name, "cannot create a file in memory");
  return Descriptor(std::move(file));
}

Descriptor Descriptor::reading(const std::string &path) { return Descriptor(openFile(path).valueOrThrow()); }

Descriptor Descriptor::copy(const std::string &name, int least) const {
  OpenFile copy(::fcntl(number(), F_DUPFD_CLOEXEC, least));
  if (!copy && errno == EINVAL) // `least` exceeds the limit of open files
    errno = EMFILE;
  if (!copy)
    fail(name, "cannot copy a file descriptor");
  return Descriptor(std::move(copy));
}

int64_t Descriptor::size(const std::string &name) const {
  struct stat facts{};
  if (::fstat(number(), &facts) != 0)
    fail(name, "cannot read");
  return facts.st_size;
}

std::shared_ptr<MappedFile> Descriptor::mapped(const std::string &name) const {
  return MappedFile::open(number(), name).valueOrThrow();
}

void Descriptor::readAt(int64_t offset, std::span<std::byte> to, const std::string &name) const {
  const int64_t count = halftone::readAt(file_, offset, {reinterpret_cast<char *>(to.data()), to.size()});
  if (count < 0)
    fail(name, "cannot read");
  if (count < std::ssize(to))
    throw Error(ErrorKind::io_error, fmt::format("{}: the file ends at byte {}; expected {} more", name, offset + count,
                                                 std::ssize(to) - count));
}

void Descriptor::writeAt(int64_t offset, std::span<const std::byte> from, const std::string &name) const {
  const std::string_view bytes(reinterpret_cast<const char *>(from.data()), from.size());
  halftone::writeAt(number(), offset, bytes, name).orThrow();
}

} // namespace halftone::detail
