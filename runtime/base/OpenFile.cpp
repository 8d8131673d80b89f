// Checks a path before opening it, and reads whole files.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/OpenFile.h"
#include "runtime/base/FreeMemory.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

namespace halftone {
namespace {

Status refusal(const std::string &path, const std::string &reason) {
  return {ErrorKind::io_error, fmt::format("cannot read {}: {}", path.empty() ? "''" : path, reason)};
}

/// The reason for refusing a file of this mode; "" for a regular file.
std::string faultOf(mode_t mode) {
  if (S_ISREG(mode))
    return "";
  if (S_ISLNK(mode))
    return "a symlink";
  return S_ISDIR(mode) ? std::strerror(EISDIR) : "not a regular file";
}

/// Fills `to` by calls of `read(bytes, count, number of bytes read before)`; reads fewer bytes only at the end of the file.
template <class Read> int64_t readAll(std::span<char> to, const Read &read) {
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t got = read(to.data() + done, to.size() - done, done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    done += static_cast<size_t>(got);
  }
  return static_cast<int64_t>(done);
}

int64_t readBytes(int file, std::span<char> to) {
  return readAll(to, [=](char *bytes, size_t count, size_t) { return ::read(file, bytes, count); });
}

} // namespace

bool OpenFile::close() { return number_ < 0 || ::close(release()) == 0; }

Status checkPath(const std::string &path) {
  if (path.find('\0') == path.npos)
    return {};
  return {ErrorKind::value_error, fmt::format("embedded null byte in the path {}", path)};
}

StatusOr<OpenFile> openFile(const std::string &path, Symlink symlink) {
  HALFTONE_RETURN_IF_ERROR(checkPath(path));
  const bool follows = symlink == Symlink::followed;
  struct stat facts{};
  if ((follows ? ::stat(path.c_str(), &facts) : ::lstat(path.c_str(), &facts)) != 0)
    return refusal(path, std::strerror(errno));
  if (const std::string fault = faultOf(facts.st_mode); !fault.empty())
    return refusal(path, fault);
  // Another process may have replaced the file by a FIFO since the check.
  OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follows ? 0 : O_NOFOLLOW)));
  if (!file || ::fstat(file.number(), &facts) != 0)
    return refusal(path, std::strerror(errno));
  if (const std::string fault = faultOf(facts.st_mode); !fault.empty())
    return refusal(path, fault);
  return file;
}

StatusOr<void *> openLibrary(const std::string &path, int flags) {
  if (path.find('/') != path.npos && ::access(path.c_str(), F_OK) == 0)
    if (const StatusOr<OpenFile> file = openFile(path); !file)
      return file.status();
  if (void *const library = ::dlopen(path.c_str(), flags))
    return library;
  const char *const reason = ::dlerror();
  return Status(ErrorKind::io_error, reason ? reason : path);
}

int64_t readInto(const OpenFile &file, std::string &bytes) { return readBytes(file.number(), bytes); }

int64_t readAt(const OpenFile &file, int64_t offset, std::span<char> bytes) {
  return readAll(bytes, [&](char *to, size_t count, size_t done) {
    return ::pread(file.number(), to, count, offset + static_cast<int64_t>(done));
  });
}

StatusOr<std::string> readFile(const std::string &path, int64_t maxBytes) {
  StatusOr<OpenFile> file = openFile(path);
  HALFTONE_RETURN_IF_ERROR(file.status());
  struct stat facts{};
  if (::fstat(file->number(), &facts) != 0)
    return refusal(path, std::strerror(errno));
  const auto tooLong = [&] { return refusal(path, fmt::format("it has more than {} bytes", maxBytes)); };
  if (facts.st_size > maxBytes)
    return tooLong();
  if (!fitsMemory(facts.st_size))
    return refusal(path, memoryShortage(facts.st_size));
  try {
    // Files of /proc report no size, and a file may grow: read to the end.
    std::string text;
    for (auto chunk = std::max(static_cast<size_t>(facts.st_size) + 1, size_t{4096});;
         chunk = std::max(text.size(), size_t{4096})) {
      const size_t begin = text.size();
      text.resize(begin + chunk);
      const int64_t got = readBytes(file->number(), {text.data() + begin, chunk});
      if (got < 0)
        return refusal(path, std::strerror(errno));
      text.resize(begin + static_cast<size_t>(got));
      if (static_cast<int64_t>(text.size()) > maxBytes)
        return tooLong();
      if (static_cast<size_t>(got) < chunk)
        return text;
    }
  } catch (const std::bad_alloc &) {
    return refusal(path, memoryShortage(facts.st_size));
  }
}

} // namespace halftone
