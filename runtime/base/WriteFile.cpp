// Replaces regular files, and writes into devices, FIFOs and open files.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/WriteFile.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <pthread.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halftone {
namespace {

using Parts = std::span<const std::string_view>;

/// A scope in which a write of this thread to a pipe without readers, or beyond the file size limit, gives an error
/// instead of a signal.
class SignalsHeld {
public:
  SignalsHeld() {
    sigset_t pending, held;
    (void)sigemptyset(&pending);
    (void)sigemptyset(&held);
    (void)sigemptyset(&ours);
    (void)sigpending(&pending);
    for (int signal : {SIGPIPE, SIGXFSZ}) {
      (void)sigaddset(&held, signal);
      if (sigismember(&pending, signal) == 0)
        (void)sigaddset(&ours, signal);
    }
    (void)pthread_sigmask(SIG_BLOCK, &held, &before);
  }
  SignalsHeld(const SignalsHeld &) = delete;
  ~SignalsHeld() {
    const int reason = errno;
    const timespec now{};
    while (sigtimedwait(&ours, nullptr, &now) >= 0 || errno == EINTR)
      ;
    (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = reason;
  }

private:
  sigset_t ours, before;
};

bool writeAll(int descriptor, Parts parts) {
  for (std::string_view part : parts)
    while (!part.empty()) {
      const ssize_t written = ::write(descriptor, part.data(), part.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written == 0)
        errno = EIO;
      if (written <= 0)
        return false;
      part.remove_prefix(size_t(written));
    }
  return true;
}

/// Returns true if the bytes are on disk; also on file systems that cannot sync.
bool sync(int descriptor) { return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS; }

std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}
std::string nameOf(const std::string &path) { return path.substr(path.rfind('/') + 1); }

/// Returns N if the path is /dev/fd/N or equivalent; `folder` is where the system exposes this process's open files.
std::optional<int> openFileNamed(const std::string &folder, const std::string &name) {
  if (name.empty() || name.size() > 9 || name.find_first_not_of("0123456789") != name.npos)
    return std::nullopt;
  char resolved[PATH_MAX];
  const std::string own = fmt::format("/proc/{}/", ::getpid());
  if (!::realpath(folder.c_str(), resolved) || !std::string_view(resolved).starts_with(own) ||
      !std::string_view(resolved).ends_with("/fd"))
    return std::nullopt;
  return std::stoi(name);
}

/// The resolved end of a path: a name that is not a symlink, or one of this process's open files.
struct PathEnd {
  std::string path;
  std::optional<int> openFile;
};

/// Resolves symlinks. nullopt, with errno set, if there are too many.
std::optional<PathEnd> follow(std::string path) {
  for (int links = 0; links < 40; ++links) {
    if (std::optional<int> number = openFileNamed(folderOf(path), nameOf(path)))
      return PathEnd{path, number};
    char target[PATH_MAX];
    const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
    if (size < 0)
      return PathEnd{path, {}};
    const std::string_view next(target, size_t(size));
    path = next.starts_with('/') ? std::string(next) : folderOf(path) + "/" + std::string(next);
  }
  errno = ELOOP;
  return std::nullopt;
}

bool writeThrough(const PathEnd &end, Parts parts) {
  OpenFile file(end.openFile ? ::fcntl(*end.openFile, F_DUPFD_CLOEXEC, 0)
                             : ::open(end.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  return file && writeAll(file.number(), parts) && file.close();
}

off_t sizeOf(Parts parts) {
  off_t size = 0;
  for (std::string_view part : parts)
    size += off_t(part.size());
  return size;
}

/// Writes a file that cannot be replaced. It reserves the space first, so that a full disk fails before the old
/// contents change.
bool writeInPlace(const std::string &path, const struct stat &old, Parts parts) {
  OpenFile file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file)
    return false;
  const off_t size = sizeOf(parts);
  const int number = file.number();
  if (size > old.st_size)
    if (const int reason = ::posix_fallocate(number, 0, size);
        reason != 0 && reason != EINVAL && reason != EOPNOTSUPP) {
      (void)::ftruncate(number, old.st_size);
      errno = reason;
      return false;
    }
  return writeAll(number, parts) && ::ftruncate(number, size) == 0 && sync(number) && file.close();
}

/// A new file in the folder of its target. It is unnamed until it is placed. If the file system does not support
/// unnamed files, it has a name beside the target, which is removed if the file is not placed.
class Draft {
public:
  Draft(const std::string &target, mode_t mode) : target_(target) {
    if (::access("/proc/self/fd", X_OK) == 0) // through which an unnamed file gets a name
      file_ = OpenFile(::open(folderOf(target).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode));
    if (!file_)
      (void)nameTemporary([&](const char *name) {
        file_ = OpenFile(::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
        return bool(file_);
      });
  }
  Draft(const Draft &) = delete;
  ~Draft() {
    const int reason = errno;
    if (!temporary_.empty())
      (void)::unlink(temporary_.c_str());
    errno = reason;
  }
  explicit operator bool() const { return bool(file_); }
  int number() const { return file_.number(); }

  /// Gives the file the target's name, replacing an existing file.
  bool place() {
    const std::string self = fmt::format("/proc/self/fd/{}", number());
    const auto link = [&](const char *name) {
      return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    };
    if (temporary_.empty() && link(target_.c_str()))
      return file_.close();
    if (temporary_.empty() && (errno != EEXIST || !nameTemporary(link)))
      return false;
    if (!file_.close() || ::rename(temporary_.c_str(), target_.c_str()) != 0)
      return false;
    temporary_.clear();
    return true;
  }

private:
  /// `.<name>.<process>.<number>`, the first that `make` accepts: a dead process may have left a file of such a name.
  template <class Make> bool nameTemporary(const Make &make) {
    static std::atomic<unsigned> counter = 0;
    std::string name = nameOf(target_);
    size_t length = std::min<size_t>(name.size(), 100); // a name may have 255 bytes
    while (length > 0 && length < name.size() && (static_cast<unsigned char>(name[length]) & 0xc0) == 0x80)
      --length; // to the start of a character
    name.resize(length);
    for (int tries = 0; tries < 100 && (tries == 0 || errno == EEXIST); ++tries) {
      temporary_ = fmt::format("{}/.{}.{}.{}", folderOf(target_), name, ::getpid(), counter++);
      if (make(temporary_.c_str()))
        return true;
    }
    temporary_.clear();
    return false;
  }

  const std::string target_;
  std::string temporary_; // empty if unnamed
  OpenFile file_;
};

/// How a regular file gets its new contents.
enum class ReplaceMode { replaceOrInPlace, replaceOnly };

/// Gives the file the owner, group and mode of `old`. Under `replaceOnly` this user may remain the owner.
bool copyOwnership(int file, const struct stat &old, ReplaceMode replaceMode) {
  struct stat made;
  if (::fstat(file, &made) != 0)
    return false;
  mode_t mode = old.st_mode & 07777;
  if ((made.st_uid != old.st_uid || made.st_gid != old.st_gid) && ::fchown(file, old.st_uid, old.st_gid) != 0) {
    if (replaceMode == ReplaceMode::replaceOrInPlace)
      return false;
    mode &= 0777; // set-user-ID would refer to another user
    if (made.st_gid != old.st_gid && ::fchown(file, uid_t(-1), old.st_gid) != 0)
      mode = (mode & 0707) | ((mode & 07) << 3); // another group gets the permissions of others
  }
  return ::fchmod(file, mode) == 0;
}

enum class Outcome { done, failed, notPossible };

/// Writes a new file and renames it to `path`. `old` is the status of the existing file, null if there is none. Returns
/// `notPossible` if the file cannot be replaced; nothing has changed then.
Outcome replace(const std::string &path, const struct stat *old, Parts parts, ReplaceMode replaceMode) {
  Draft draft(path, old ? 0600 : 0666);
  if (!draft)
    return old ? Outcome::notPossible : Outcome::failed;
  if (old && !copyOwnership(draft.number(), *old, replaceMode))
    return Outcome::notPossible;
  if (!writeAll(draft.number(), parts) || !sync(draft.number()))
    return Outcome::failed;
  if (!draft.place()) // rename() cannot replace a mount point
    return old && errno != EISDIR ? Outcome::notPossible : Outcome::failed;
  return Outcome::done;
}

/// Syncs a rename in the folder to disk. A failure is ignored, since the rename cannot be undone.
void syncFolder(const std::string &path) {
  const OpenFile folder(::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder)
    (void)::fsync(folder.number());
}

bool write(const std::string &path, Parts parts, ReplaceMode replaceMode) {
  const std::optional<PathEnd> end = follow(path);
  if (!end)
    return false;
  struct stat old;
  if (end->openFile)
    return writeThrough(*end, parts);
  if (::stat(end->path.c_str(), &old) != 0) {
    if (errno != ENOENT || replace(end->path, nullptr, parts, replaceMode) != Outcome::done)
      return false;
    if (replaceMode == ReplaceMode::replaceOnly)
      syncFolder(end->path);
    return true;
  }
  if (S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    return false;
  }
  if (!S_ISREG(old.st_mode))
    return writeThrough(*end, parts);
  if (::faccessat(AT_FDCWD, end->path.c_str(), W_OK, AT_EACCESS) != 0)
    return false;
  if (replaceMode == ReplaceMode::replaceOnly) {
    if (replace(end->path, &old, parts, replaceMode) != Outcome::done)
      return false;
    syncFolder(end->path);
    return true;
  }
  const Outcome outcome = old.st_nlink > 1 ? Outcome::notPossible : replace(end->path, &old, parts, replaceMode);
  return outcome == Outcome::done || (outcome == Outcome::notPossible && writeInPlace(end->path, old, parts));
}

/// The status of a call that has failed with errno.
Status failure(const std::string &path) {
  return {ErrorKind::io_error, fmt::format("cannot write {}: {}", path.empty() ? "''" : path, std::strerror(errno))};
}

/// Returns ok if `write`, which sets errno, returns true.
template <class Write> Status written(const std::string &path, const Write &write) {
  HALFTONE_RETURN_IF_ERROR(checkPath(path));
  const SignalsHeld held;
  errno = 0;
  return write() ? Status() : failure(path);
}

} // namespace

Status writeFile(const std::string &path, std::initializer_list<std::string_view> parts) {
  return written(path, [&] { return write(path, {parts.begin(), parts.size()}, ReplaceMode::replaceOrInPlace); });
}
Status replaceFile(const std::string &path, std::span<const std::string_view> parts) {
  return written(path, [&] { return write(path, parts, ReplaceMode::replaceOnly); });
}
Status replaceOwnFile(const std::string &path, std::span<const std::string_view> parts) {
  return written(path, [&] {
    Draft draft(path, 0600);
    return draft && writeAll(draft.number(), parts) && sync(draft.number()) && draft.place();
  });
}

Status makeFolder(const std::string &path) {
  HALFTONE_RETURN_IF_ERROR(checkPath(path));
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return Status(ErrorKind::io_error, fmt::format("cannot create the folder {}: {}", path, error.message()));
  return {};
}

Status writeAt(int file, int64_t offset, std::string_view bytes, const std::string &name) {
  return written(name, [&] {
    while (!bytes.empty()) {
      const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), offset);
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        return false;
      bytes.remove_prefix(size_t(count));
      offset += count;
    }
    return true;
  });
}

Status writeStream(std::FILE *stream, std::string_view text) {
  return written("the stream", [&] {
    if (std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0)
      return true;
    const int reason = errno;
    __fpurge(stream);
    errno = reason;
    return false;
  });
}

StatusOr<GrowingFile> GrowingFile::open(const std::string &path, bool appends) {
  GrowingFile file;
  file.path_ = path;
  HALFTONE_RETURN_IF_ERROR(written(path, [&] {
    file.file_ = OpenFile(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (appends ? O_APPEND : O_TRUNC), 0666));
    return bool(file.file_);
  }));
  return file;
}

Status GrowingFile::append(std::string_view text) {
  return written(path_, [&] { return writeAll(file_.number(), {&text, 1}); });
}

} // namespace halftone
