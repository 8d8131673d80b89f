// Cache entries as files: checks the folder's permissions and each entry's digest, and writes entries atomically.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/CacheFolder.h"
#include "runtime/base/CacheTrim.h"
#include "runtime/base/Environment.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/OpenFile.h"
#include "runtime/base/Sha256.h"
#include "runtime/base/SizedText.h"
#include "runtime/base/WriteFile.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halftone {
namespace {

constexpr size_t digestSize = 64;

/// Creates the folder if it is absent. Returns "" if this user owns it and nobody else can write to it, otherwise the
/// reason for refusing it.
std::string openFolder(const std::string &path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fmt::format("cannot create {}: {}", path, std::strerror(errno));
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0)
    return fmt::format("cannot read {}: {}", path, std::strerror(errno));
  if (S_ISLNK(status.st_mode))
    return path + " is a symlink; expected a folder";
  if (!S_ISDIR(status.st_mode))
    return path + " is not a folder";
  if (status.st_uid != ::geteuid())
    return path + " belongs to another user";
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return path + " can be written by other users";
  return "";
}

/// The parents of the cache folder may have any owner (a home below /home), as long as they exist or can be created.
void createParents(const std::string &path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (::mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST)
      return; // openFolder() then reports the error
}

/// The start of an entry's file: the part of its header that the key determines. The body's digest and size follow.
std::string headerStart(std::string_view magic, const std::string &key) {
  std::string text(magic);
  putString(text, key);
  return text;
}

/// Returns true if a key is a valid file name: hexadecimal digits only.
bool isFileName(const std::string &key) {
  return !key.empty() && key.size() <= 128 && key.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool readWhole(const OpenFile &file, std::string &bytes) {
  return readInto(file, bytes) == static_cast<int64_t>(bytes.size());
}

/// Writes an entry. Returns "", or the reason why it could not be written.
std::string writeEntry(const std::string &folder, const std::string &key, std::string_view bytes) {
  const std::string name = folder + "/" + key;
  Status status = replaceOwnFile(name, {&bytes, 1});
  if (!status && ::access(folder.c_str(), F_OK) != 0 && errno == ENOENT) { // another process removed the empty folder
    if (std::string problem = openFolder(folder); !problem.empty())
      return problem;
    status = replaceOwnFile(name, {&bytes, 1});
  }
  return status ? "" : status.message();
}

} // namespace

std::string defaultCacheDirectory() {
  if (const std::string cache = environmentValue("XDG_CACHE_HOME"); cache.starts_with('/'))
    return cache + "/halftone";
  if (const std::string home = environmentValue("HOME"); home.starts_with('/'))
    return home + "/.cache/halftone";
  return "";
}

std::string cacheEntry(std::string_view magic, const std::string &key, std::string_view body) {
  std::string bytes = headerStart(magic, key) + sha256(body);
  putString(bytes, body);
  return bytes;
}

std::optional<std::string> bodyOfCacheEntry(std::string_view magic, const std::string &key, std::string_view entry) {
  const std::string expected = headerStart(magic, key);
  if (!entry.starts_with(expected) || entry.size() - expected.size() < digestSize)
    return std::nullopt;
  const std::string_view digest = entry.substr(expected.size(), digestSize);
  entry.remove_prefix(expected.size() + digestSize);
  std::string body;
  if (!takeString(entry, body) || !entry.empty() || sha256(body) != digest)
    return std::nullopt;
  return body;
}

CacheFolder::CacheFolder(std::string_view directory, const std::string &name, std::string_view magic, int64_t limit)
    : magic_(magic), limit_(limit) {
  if (directory == "none")
    return;
  std::string base = directory.empty() ? defaultCacheDirectory() : std::string(directory);
  if (base.empty()) {
    warning_ = "neither XDG_CACHE_HOME nor HOME names a folder";
    return;
  }
  while (base.size() > 1 && base.back() == '/')
    base.pop_back();
  createParents(base);
  const std::string folder = base + "/" + name;
  for (const std::string &path : {base, folder})
    if (warning_ = openFolder(path); !warning_.empty())
      return;
  base_ = base;
  folder_ = folder;
}

std::string CacheFolder::warning() const {
  const ForkSafeLock lock(mutex_);
  return warning_;
}

std::optional<std::string> CacheFolder::read(const std::string &key) const {
  if (folder_.empty() || !isFileName(key))
    return std::nullopt;
  const StatusOr<OpenFile> file = openFile(folder_ + "/" + key, Symlink::refused);
  struct stat status;
  if (!file || ::fstat(file->number(), &status) != 0 || status.st_uid != ::geteuid() ||
      (status.st_mode & (S_IWGRP | S_IWOTH)) || status.st_size > detail::maxCacheEntryBytes)
    return std::nullopt;
  const std::string expected = headerStart(magic_, key);
  std::string header(expected.size() + digestSize + 8, '\0');
  if (!readWhole(*file, header) || !header.starts_with(expected))
    return std::nullopt;
  std::string bodySize;
  putSize(bodySize, uint64_t(status.st_size) - header.size());
  if (!header.ends_with(bodySize)) // before reading a potentially large body
    return std::nullopt;
  std::string rest(size_t(status.st_size) - header.size(), '\0');
  if (!readWhole(*file, rest))
    return std::nullopt;
  std::optional<std::string> body = bodyOfCacheEntry(magic_, key, header + rest);
  if (!body)
    return std::nullopt;
  constexpr time_t fresh = 3600;
  if (status.st_mtime < ::time(nullptr) - fresh)
    (void)::futimens(file->number(), nullptr); // marks the entry as used now, for the eviction order
  return body;
}

void CacheFolder::write(const std::string &key, std::string_view body) {
  if (folder_.empty() || !isFileName(key))
    return;
  const std::string bytes = cacheEntry(magic_, key, body);
  std::string problem = writeEntry(folder_, key, bytes);
  const ForkSafeLock lock(mutex_);
  if (!problem.empty()) {
    if (warning_.empty())
      warning_ = std::move(problem);
    return;
  }
  const bool first = !uncounted_;
  uncounted_ = uncounted_.value_or(0) + int64_t(bytes.size());
  if (first || *uncounted_ > limit_ / 16) {
    trimCacheFolder(base_, folder_, limit_);
    uncounted_ = 0;
  }
}

} // namespace halftone
