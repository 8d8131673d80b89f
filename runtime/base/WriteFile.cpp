// Replaces regular files, and writes into devices, FIFOs and open files.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/WriteFile.h"
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace halftone {
namespace {

using Parts = std::span<const std::string_view>;

/// A file descriptor, closed at the end.
class File {
public:
  explicit File(int descriptor) : descriptor(descriptor) {}
  File(const File &) = delete;
  ~File() {
    if (descriptor >= 0)
      (void)::close(descriptor);
  }
  operator int() const { return descriptor; }
  /// False if closing fails; some file systems report only then that the data did not fit.
  bool close() { return ::close(std::exchange(descriptor, -1)) == 0; }

private:
  int descriptor;
};

/// While it lives, a write of this thread to a pipe without readers, or beyond the limit on file sizes, gives an error
/// and no signal.
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

/// Whether the bytes are on the disk; also true on file systems that cannot sync.
bool sync(int descriptor) { return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS; }

std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}
std::string nameOf(const std::string &path) { return path.substr(path.rfind('/') + 1); }

/// N if the path is /dev/fd/N or means the same; `folder` is where the system shows this process's open files.
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

/// The end of a path: a name that is no symlink, or one of this process's open files.
struct Place {
  std::string path;
  std::optional<int> openFile;
};

/// Follows symlinks. nullopt, with errno set, if there are too many.
std::optional<Place> follow(std::string path) {
  for (int links = 0; links < 40; ++links) {
    if (std::optional<int> number = openFileNamed(folderOf(path), nameOf(path)))
      return Place{path, number};
    char target[PATH_MAX];
    const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
    if (size < 0)
      return Place{path, {}};
    const std::string_view next(target, size_t(size));
    path = next.starts_with('/') ? std::string(next) : folderOf(path) + "/" + std::string(next);
  }
  errno = ELOOP;
  return std::nullopt;
}

bool writeThrough(const Place &place, Parts parts) {
  File file(place.openFile ? ::fcntl(*place.openFile, F_DUPFD_CLOEXEC, 0)
                           : ::open(place.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  return file >= 0 && writeAll(file, parts) && file.close();
}

off_t sizeOf(Parts parts) {
  off_t size = 0;
  for (std::string_view part : parts)
    size += off_t(part.size());
  return size;
}

/// Writes a file that cannot be replaced. It reserves the room first, so that a full disk fails before the old contents
/// change.
bool writeInPlace(const std::string &path, const struct stat &old, Parts parts) {
  File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file < 0)
    return false;
  const off_t size = sizeOf(parts);
  if (size > old.st_size)
    if (const int reason = ::posix_fallocate(file, 0, size); reason != 0 && reason != EINVAL && reason != EOPNOTSUPP) {
      (void)::ftruncate(file, old.st_size);
      errno = reason;
      return false;
    }
  return writeAll(file, parts) && ::ftruncate(file, size) == 0 && sync(file) && file.close();
}

enum class Outcome { done, failed, notPossible };

/// Writes a file in the same folder and renames it to `path`. `old` is the status of the present file, null without
/// one. With `notPossible` nothing has changed.
Outcome replace(const std::string &path, const struct stat *old, Parts parts) {
  static std::atomic<unsigned> counter = 0;
  std::string beside;
  int descriptor = -1;
  for (int tries = 0; tries < 100 && descriptor < 0 && (tries == 0 || errno == EEXIST);
       ++tries) { // a dead process may have left a file of this name
    beside = fmt::format("{}/.{:.100}.{}.{}", folderOf(path), nameOf(path), ::getpid(), counter++);
    descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, old ? 0600 : 0666);
  }
  File file(descriptor);
  if (file < 0)
    return old ? Outcome::notPossible : Outcome::failed;
  const auto give = [&](Outcome outcome) {
    const int reason = errno;
    (void)::unlink(beside.c_str());
    errno = reason;
    return outcome;
  };
  struct stat made;
  if (old &&
      (::fstat(file, &made) != 0 ||
       ((made.st_uid != old->st_uid || made.st_gid != old->st_gid) && ::fchown(file, old->st_uid, old->st_gid) != 0) ||
       ::fchmod(file, old->st_mode & 07777) != 0))
    return give(Outcome::notPossible);
  if (!writeAll(file, parts) || !sync(file) || !file.close())
    return give(Outcome::failed);
  if (::rename(beside.c_str(), path.c_str()) != 0)
    return give(old && errno != EISDIR ? Outcome::notPossible
                                       : Outcome::failed); // rename() cannot replace a mount point
  return Outcome::done;
}

/// Puts a rename in the folder on the disk. Nobody could undo the rename: a failure is no error.
void syncFolder(const std::string &path) {
  File folder(::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder >= 0)
    (void)::fsync(folder);
}

/// How a regular file gets its new contents.
enum class Way { replaceOrInPlace, replaceOnly };

bool write(const std::string &path, Parts parts, Way way) {
  const std::optional<Place> place = follow(path);
  if (!place)
    return false;
  struct stat old;
  if (place->openFile)
    return writeThrough(*place, parts);
  if (::stat(place->path.c_str(), &old) != 0) {
    if (errno != ENOENT || replace(place->path, nullptr, parts) != Outcome::done)
      return false;
    if (way == Way::replaceOnly)
      syncFolder(place->path);
    return true;
  }
  if (S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    return false;
  }
  if (!S_ISREG(old.st_mode))
    return writeThrough(*place, parts);
  if (::faccessat(AT_FDCWD, place->path.c_str(), W_OK, AT_EACCESS) != 0)
    return false;
  if (way == Way::replaceOnly) {
    if (replace(place->path, &old, parts) != Outcome::done)
      return false;
    syncFolder(place->path);
    return true;
  }
  const Outcome outcome = old.st_nlink > 1 ? Outcome::notPossible : replace(place->path, &old, parts);
  return outcome == Outcome::done || (outcome == Outcome::notPossible && writeInPlace(place->path, old, parts));
}

Status written(const std::string &path, Parts parts, Way way) {
  const SignalsHeld held;
  errno = 0;
  if (write(path, parts, way))
    return {};
  return {ErrorKind::io_error, fmt::format("cannot write {}: {}", path.empty() ? "''" : path, std::strerror(errno))};
}

} // namespace

Status writeFile(const std::string &path, std::initializer_list<std::string_view> parts) {
  return written(path, {parts.begin(), parts.size()}, Way::replaceOrInPlace);
}
Status replaceFile(const std::string &path, std::span<const std::string_view> parts) {
  return written(path, parts, Way::replaceOnly);
}

} // namespace halftone
