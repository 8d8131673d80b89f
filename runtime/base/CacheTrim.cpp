// Finds the least recently used entries of the disk cache and removes them.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/CacheTrim.h"
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace halftone {
namespace {

struct Entry {
  int64_t seconds, nanoseconds; // of the last use
  std::string path;
  int64_t bytes;
};

bool isHexadecimal(std::string_view name, size_t digits) {
  return name.size() == digits && name.find_first_not_of("0123456789abcdef") == name.npos;
}

/// <version>-<16 digits>, see cmake/CodeId.cmake.
bool isCodeId(std::string_view name) {
  const size_t dash = name.rfind('-');
  return dash != name.npos && dash > 0 && name.find_first_not_of("0123456789.") == dash &&
         isHexadecimal(name.substr(dash + 1), 16);
}

bool isKey(std::string_view name) { return isHexadecimal(name, 64); }

/// `.<key>.<process>.<number>`, an entry being written (replaceOwnFile()); earlier versions wrote it without the first
/// dot.
bool isUnfinished(std::string_view name) {
  name.remove_prefix(name.starts_with('.') ? 1 : 0);
  return name.size() > 65 && isKey(name.substr(0, 64)) && name[64] == '.' &&
         name.find_first_not_of("0123456789.", 65) == name.npos;
}

std::vector<fs::path> contentsOf(const fs::path &folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    paths.push_back(at->path());
  return paths;
}

} // namespace

void trimCacheFolder(const std::string &base, const std::string &own, int64_t limit) {
  std::vector<Entry> entries;
  int64_t total = 0;
  for (const fs::path &folder : contentsOf(base)) {
    std::error_code error;
    if (!isCodeId(folder.filename().string()) || !fs::is_directory(fs::symlink_status(folder, error)))
      continue;
    for (const fs::path &path : contentsOf(folder)) {
      const std::string name = path.filename();
      struct stat status;
      if ((!isKey(name) && !isUnfinished(name)) || ::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        continue;
      constexpr time_t writing = 3600; // an older file is abandoned
      total += status.st_size;
      if (isKey(name) || status.st_mtime < ::time(nullptr) - writing)
        entries.push_back({status.st_mtim.tv_sec, status.st_mtim.tv_nsec, path, status.st_size});
    }
  }
  if (total <= limit)
    return;
  std::ranges::sort(entries, {},
                    [](const Entry &entry) { return std::tie(entry.seconds, entry.nanoseconds, entry.path); });
  for (const Entry &entry : entries) {
    if (total <= limit / 8 * 7)
      break;
    if (::unlink(entry.path.c_str()) == 0)
      total -= entry.bytes;
  }
  for (const fs::path &folder : contentsOf(base))
    if (folder != own && isCodeId(folder.filename().string()))
      (void)::rmdir(folder.c_str()); // intentionally fails if the folder is not empty
}

} // namespace halftone
