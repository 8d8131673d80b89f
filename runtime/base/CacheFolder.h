// A folder of files between processes: each entry appears complete or not at all, and only this user writes there.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace halftone {

/// The most bytes that the entries of all caches in one directory have together.
inline constexpr int64_t usualCacheLimit = int64_t(1) << 30;

/// $XDG_CACHE_HOME/halftone, or ~/.cache/halftone; "" if neither variable names a folder.
std::string defaultCacheDirectory();

/// Each entry is one file, `<directory>/<name>/<key>`, with key, SHA-256 and size in its header. Loading code is as
/// trusting as loading a shared library, so this user must own the folder, nobody else may write to it, and no part of
/// the path from `<directory>` on may be a symlink. If that does not hold, or if the folder cannot be written, there are
/// no entries, and `complaint` gives the reason. Safe for threads and for processes.
class CacheFolder {
public:
  /// `directory`: "" for defaultCacheDirectory(), "none" for no entries at all. `name`: a version of digits and dots, a
  /// dash and 16 hexadecimal digits; the entries of all folders so named in `directory` have at most `limit` bytes
  /// together, and the least recently used ones go first. `magic`: the first bytes of each file.
  CacheFolder(std::string_view directory, const std::string &name, std::string_view magic, int64_t limit);
  /// nullopt when there is none; a damaged file counts as none. A key is hexadecimal digits, 64 of them for an entry
  /// that may be removed.
  std::optional<std::string> read(const std::string &key) const;
  void write(const std::string &key, std::string_view body);
  /// The reason why there are no entries, or why the first that is missing could not be written; entries that are written
  /// later do not change it. Empty when neither happened, and when the directory is "none".
  std::string complaint() const;

private:
  const std::string magic_;
  const int64_t limit_;
  std::string base_, folder_; // both empty: there are no entries
  mutable std::mutex mutex_;
  std::string complaint_;
  std::optional<int64_t> unweighed_; // bytes written since entries were last added up; nullopt: never
};

} // namespace halftone
