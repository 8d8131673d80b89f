// The disk cache keeps to its size: the entries that were used longest ago go first, and other files stay.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCacheFolder.h"
#include "compiler/codegen/KernelCache.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace halftone;
using namespace halftone::compiler;
namespace fs = std::filesystem;

namespace {

struct Folder : TemporaryFolder {
  fs::path put(const fs::path &name, size_t bytes, int secondsAgo) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << std::string(bytes, 'x');
    const timespec times[2] = {{::time(nullptr) - secondsAgo, 0}, {::time(nullptr) - secondsAgo, 0}};
    REQUIRE(::utimensat(AT_FDCWD, (path / name).c_str(), times, 0) == 0);
    return path / name;
  }
};

const std::string oldBuild = "0.1.0-0123456789abcdef", newBuild = "0.2.0-fedcba9876543210";
std::string keyOf(char digit) { return std::string(64, digit); }

KernelCode sample(size_t bytes) { return {"halftone_aa", "loop", "triple|cpu|", "module {}", std::string(bytes, 'c')}; }

} // namespace

TEST_CASE("the cache removes the least recently used entry first, whatever its build", "[cache]") {
  Folder folder;
  const fs::path a = folder.put(oldBuild + "/" + keyOf('a'), 1000, 500),
                 b = folder.put(newBuild + "/" + keyOf('b'), 1000, 400),
                 c = folder.put(oldBuild + "/" + keyOf('c'), 1000, 300),
                 d = folder.put(newBuild + "/" + keyOf('d'), 1000, 200);
  trimCacheFolder(folder.path, folder.path / newBuild, 4000);
  CHECK(fs::exists(a)); // all entries fit
  trimCacheFolder(folder.path, folder.path / newBuild, 3000);
  CHECK_FALSE(fs::exists(a));
  CHECK_FALSE(fs::exists(b)); // deletes until seven eighths are left
  CHECK(fs::exists(c));
  CHECK(fs::exists(d));
  trimCacheFolder(folder.path, folder.path / newBuild, 1200);
  CHECK_FALSE(fs::exists(folder.path / oldBuild)); // an empty folder goes too
  CHECK(fs::exists(d));
  trimCacheFolder(folder.path, folder.path / newBuild, 0);
  CHECK_FALSE(fs::exists(d));
  CHECK(fs::exists(folder.path / newBuild));
}

TEST_CASE("Trimming takes what is the cache's, and nothing else", "[cache]") {
  Folder folder;
  const fs::path others[] = {folder.put("letters", 1000, 900),
                             folder.put(keyOf('a'), 1000, 900),
                             folder.put("blobs/" + keyOf('a'), 1000, 900),
                             folder.put(oldBuild + "/README", 1000, 900),
                             folder.put(oldBuild + "/" + keyOf('a') + ".txt", 1000, 900),
                             folder.put(oldBuild + "/deeper/" + keyOf('a'), 1000, 900)};
  const fs::path left = folder.put(oldBuild + "/" + keyOf('a') + ".123.4", 1000, 7200),
                 now = folder.put(oldBuild + "/" + keyOf('b') + ".123.5", 1000, 10);
  fs::create_directory(folder.path / "empty");
  fs::create_directory_symlink(folder.path / "blobs", folder.path / "0.0.1-0123456789abcdef");
  trimCacheFolder(folder.path, folder.path / newBuild, 0);
  for (const fs::path &path : others)
    CHECK(fs::exists(path));
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(now));
  CHECK(fs::exists(folder.path / "empty"));
  trimCacheFolder(folder.path / "absent", "", 0);
}

TEST_CASE("A cache stays within its limit while it is written, and keeps what is read", "[cache]") {
  Folder folder;
  const int64_t limit = 200000;
  const std::string cacheFolder = folder.path / "cache";
  const auto bytesHeld = [&] {
    int64_t bytes = 0;
    for (const auto &entry : fs::recursive_directory_iterator(cacheFolder))
      bytes += entry.is_regular_file() ? int64_t(entry.file_size()) : 0;
    return bytes;
  };
  KernelCache cache(cacheFolder, limit);
  const std::string used = keyOf('a');
  cache.insert(used, sample(1000));
  for (int i = 0; i < 100; ++i) {
    std::string key = keyOf('0');
    key.replace(0, 3, std::to_string(100 + i));
    cache.insert(key, sample(10000));
    // Less than a second has passed since the write, so set the times of a file that was read an hour ago and now.
    const fs::path file = fs::path(cacheFolder) / buildId() / used;
    const timespec hours[2] = {{::time(nullptr) - 7200, 0}, {::time(nullptr) - 7200, 0}};
    REQUIRE(::utimensat(AT_FDCWD, file.c_str(), hours, 0) == 0);
    REQUIRE(KernelCache(cacheFolder, limit).find(used));
    CHECK(bytesHeld() <= limit + limit / 16 + 11000);
  }
  CHECK(bytesHeld() >= limit / 2);
  CHECK(cache.complaint().empty());
}
