// The disk cache keeps its size limit: least recently used entries are deleted first, and other files remain.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/CacheTrim.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace halftone;
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
  CHECK_FALSE(fs::exists(folder.path / oldBuild)); // an empty folder is deleted too
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
                 now = folder.put(oldBuild + "/." + keyOf('b') + ".123.5", 1000, 10),
                 hidden = folder.put(oldBuild + "/." + keyOf('c') + ".123.6", 1000, 7200);
  fs::create_directory(folder.path / "empty");
  fs::create_directory_symlink(folder.path / "blobs", folder.path / "0.0.1-0123456789abcdef");
  trimCacheFolder(folder.path, folder.path / newBuild, 0);
  for (const fs::path &path : others)
    CHECK(fs::exists(path));
  CHECK_FALSE(fs::exists(left));
  CHECK_FALSE(fs::exists(hidden));
  CHECK(fs::exists(now));
  CHECK(fs::exists(folder.path / "empty"));
  trimCacheFolder(folder.path / "absent", "", 0);
}
