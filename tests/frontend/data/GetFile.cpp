// get_file: copies to a cache, hashes, and network origins.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/DataPreparation.h"
#include "halftone/Error.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>

using namespace halftone;
using Catch::Matchers::Contains;
using utils::get_file;

namespace {
const std::string hashOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
std::string contents(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
} // namespace

TEST_CASE("get_file copies a file into the cache once") {
  const TemporaryFolder folder;
  const std::string source = folder.write("my data.txt", "abc");
  const std::string cached = get_file("", source, {.cache_dir = folder / "cache"});
  CHECK(cached == folder / "cache/datasets/my data.txt");
  CHECK(contents(cached) == "abc");
  folder.write("my data.txt", "other");
  CHECK(contents(get_file("", source, {.cache_dir = folder / "cache"})) == "abc");
  CHECK(contents(get_file("", source, {.cache_dir = folder / "cache", .force_download = true})) == "other");
  const std::string url = "file://" + (folder / "my%20data.txt");
  const std::string named = get_file("x", url, {.cache_subdir = "sub/sub", .cache_dir = folder / "cache"});
  CHECK(named == folder / "cache/sub/sub/x");
  CHECK(contents(named) == "other");
}

TEST_CASE("get_file finds files in the cache of the environment, and those of other origins") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "datasets");
  folder.write("datasets/a.npz", "abc");
  ::setenv("KERAS_HOME", folder.path.c_str(), 1);
  CHECK(get_file("", "https://host/files/a.npz?version=1") == folder / "datasets/a.npz");
  CHECK(get_file("a.npz", "https://host/b", {.file_hash = hashOfAbc}) == folder / "datasets/a.npz");
  CHECK_THROWS_WITH(
      get_file("", "https://host/b.npz"),
      Contains("IOError: Cannot fetch https://host/b.npz: network access is not supported. Put the file at") &&
          Contains("datasets/b.npz"));
  ::unsetenv("KERAS_HOME");
}

TEST_CASE("get_file replaces a file of another hash, and refuses a source of one") {
  const TemporaryFolder folder;
  const utils::GetFileArgs args{.file_hash = hashOfAbc, .cache_dir = folder / "cache"};
  const std::string source = folder.write("a", "abc");
  std::filesystem::create_directories(folder / "cache/datasets");
  folder.write("cache/datasets/a", "old");
  CHECK(contents(get_file("a", source, args)) == "abc");
  folder.write("cache/datasets/a", "old");
  CHECK_THROWS_WITH(get_file("a", "https://host/a", args), Contains("ValueError: Incomplete or corrupted"));
  folder.write("a", "damaged");
  CHECK_THROWS_WITH(get_file("a", source, args),
                    Contains("ValueError: Incomplete or corrupted file detected: '" + source + "'"));
  CHECK(contents(folder / "cache/datasets/a") == "old");
}

TEST_CASE("get_file refuses origins and names that name no file") {
  const TemporaryFolder folder;
  const auto error = [&](const std::string &name, const std::string &origin, const std::string &hash = "") {
    try {
      return get_file(name, origin, {.file_hash = hash, .cache_dir = folder / "c"});
    } catch (const Error &refused) {
      return std::string(refused.what());
    }
  };
  CHECK_THAT(error("", ""), Contains("ValueError: Please specify the \"origin\" argument"));
  CHECK_THAT(error("a/b", "x"), Contains("ValueError: Paths are not accepted as the `fname` argument"));
  CHECK_THAT(error("", "https://host"), Contains("ValueError: Can't parse the file name"));
  CHECK_THAT(error("", "/some/folder/"), Contains("ValueError: Can't parse the file name"));
  CHECK_THAT(error("..", "x"), Contains("ValueError: Can't parse the file name"));
  CHECK_THAT(error("a", "x", "abc"), Contains("ValueError: file_hash must be a SHA-256 of 64 hexadecimal digits"));
  CHECK_THAT(error("a", folder / "missing"), Contains("IOError: cannot read") && Contains("No such file or directory"));
  CHECK_THAT(error("a", folder.path.string()), Contains("IOError"));
}
