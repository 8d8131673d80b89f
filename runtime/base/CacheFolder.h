// A cache folder that processes share: entries appear atomically, and only this user writes there.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace halftone {

/// Limit on the total bytes of all caches in one directory.
inline constexpr int64_t usualCacheLimit = int64_t(1) << 30;

/// $XDG_CACHE_HOME/halftone, or ~/.cache/halftone; "" if neither variable names a folder.
std::string defaultCacheDirectory();

/// The bytes of an entry: magic, key, SHA-256 and size of the body, and the body.
std::string cacheEntry(std::string_view magic, const std::string &key, std::string_view body);
/// The inverse of cacheEntry(). nullopt for bytes that are not an entry with this magic and key, or that are damaged.
std::optional<std::string> bodyOfCacheEntry(std::string_view magic, const std::string &key, std::string_view entry);

/// A cache in which each entry is one file, `<directory>/<name>/<key>`, whose bytes cacheEntry() defines.
/// Loading code from it requires the same trust as loading a shared library. So this user must own the folder, nobody
/// else may have write permission, and no part of the path from `<directory>` on may be a symlink. Otherwise, or if the
/// folder is not writable, the cache has no entries, and warning() gives the reason. Safe for concurrent threads and
/// processes.
class CacheFolder {
public:
  /// `directory`: "" for defaultCacheDirectory(), "none" for no entries at all. `name`: a version of digits and dots, a
  /// dash and 16 hexadecimal digits. The entries of all folders with such names in `directory` have at most `limit`
  /// bytes together; the least recently used ones are evicted first. `magic`: the first bytes of each file.
  CacheFolder(std::string_view directory, const std::string &name, std::string_view magic, int64_t limit);
  /// nullopt if there is no entry; a damaged file counts as absent. A key consists of hexadecimal digits, 64 of them
  /// for an entry that may be evicted.
  std::optional<std::string> read(const std::string &key) const;
  void write(const std::string &key, std::string_view body);
  /// The reason why the cache is disabled, or why a write failed for the first time; later successful writes do not
  /// clear it. Empty if neither happened, and if the directory is "none".
  std::string warning() const;

private:
  const std::string magic_;
  const int64_t limit_;
  std::string base_, folder_; // both empty if there are no entries
  mutable std::mutex mutex_;
  std::string warning_;
  std::optional<int64_t> uncounted_; // bytes written since the total size was last computed; nullopt: never
};

} // namespace halftone
