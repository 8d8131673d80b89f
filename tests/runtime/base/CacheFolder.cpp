// Folders of cached files: which files are returned, and which never are.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/CacheFolder.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace halftone;
namespace fs = std::filesystem;

static const std::string name = "1.2-0123456789abcdef", key = std::string(64, 'b');

TEST_CASE("An entry comes back whole, in this process and in a later one, under its own magic alone") {
  TemporaryFolder folder;
  const std::string body("\0 some \xff bytes", 15);
  {
    CacheFolder cache(folder / "a", name, "magic 1\n", 1 << 20);
    CHECK(cache.warning().empty());
    CHECK_FALSE(cache.read(key));
    cache.write(key, body);
    cache.write("../escape", body); // not a key
    CHECK(cache.read(key) == body);
  }
  CHECK(CacheFolder(folder / "a", name, "magic 1\n", 1 << 20).read(key) == body);
  CHECK_FALSE(CacheFolder(folder / "a", name, "magic 2\n", 1 << 20).read(key));
  CHECK_FALSE(CacheFolder(folder / "a", name, "magic 1\n", 1 << 20).read(std::string(64, 'c')));
  CHECK(std::distance(fs::recursive_directory_iterator(folder.path), {}) == 3); // two folders and the entry
}

TEST_CASE("A damaged entry does not come back, and is written anew") {
  TemporaryFolder folder;
  CacheFolder cache(folder / "a", name, "magic\n", 1 << 20);
  const fs::path file = folder.path / "a" / name / key;
  const std::string body(1000, 'x');
  cache.write(key, body);
  const auto size = static_cast<int64_t>(fs::file_size(file));
  for (int64_t at = 0; at < size; at += 37) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const char flipped = static_cast<char>(stream.get() ^ 1);
    stream.seekp(at);
    stream.put(flipped).flush();
    CHECK_FALSE(cache.read(key));
    cache.write(key, body);
    CHECK(cache.read(key) == body);
  }
  fs::resize_file(file, static_cast<uintmax_t>(size) / 2);
  CHECK_FALSE(cache.read(key));
}

TEST_CASE("A folder that others can write, and a symlink, are no cache") {
  TemporaryFolder folder;
  fs::create_directory(folder.path / "open");
  REQUIRE(::chmod((folder / "open").c_str(), 0777) == 0);
  CacheFolder open(folder / "open", name, "magic\n", 1 << 20);
  CHECK_THAT(open.warning(), Catch::EndsWith("can be written by other users"));
  open.write(key, "body");
  CHECK_FALSE(open.read(key));
  fs::create_directory(folder.path / "real");
  fs::create_directory_symlink(folder.path / "real", folder.path / "link");
  CHECK_THAT(CacheFolder(folder / "link", name, "magic\n", 1 << 20).warning(),
             Catch::EndsWith("is a symlink; expected a folder"));
  CacheFolder none("none", name, "magic\n", 1 << 20);
  none.write(key, "body");
  CHECK_FALSE(none.read(key));
  CHECK(none.warning().empty());
}

TEST_CASE("An entry beyond the limit on file sizes is not written and reported; no signal ends the process") {
  TemporaryFolder folder;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit limit{4096, 4096};
    CacheFolder cache(folder / "a", name, "magic\n", 1 << 20);
    const bool isLimited = ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
    cache.write(key, std::string(100000, 'x'));
    cache.write(std::string(64, 'c'), "small"); // does not hide that the first entry is missing
    ::_exit(isLimited && !cache.read(key) && cache.read(std::string(64, 'c')) &&
                    cache.warning().ends_with("File too large")
                ? 0
                : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
