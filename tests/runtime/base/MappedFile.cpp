// Mapped files: their bytes, and the paths that are rejected.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/MappedFile.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <filesystem>
#include <sys/stat.h>

using namespace halftone;

static std::string textOf(const MappedFile &file) {
  return {reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size()};
}

TEST_CASE("A mapped file keeps its bytes when a rename replaces the file, and writes do not reach it", "[file]") {
  TemporaryFolder folder;
  const std::string path = folder.write("f", "old bytes");
  std::shared_ptr<MappedFile> file = MappedFile::open(path).valueOrThrow();
  CHECK(textOf(*file) == "old bytes");
  file->bytes()[0] = std::byte{'c'};
  CHECK(textOf(*MappedFile::open(path).valueOrThrow()) == "old bytes");
  std::filesystem::rename(folder.write("g", "new"), path);
  CHECK(textOf(*file) == "cld bytes");
  CHECK(textOf(*MappedFile::open(path).valueOrThrow()) == "new");
}

TEST_CASE("An empty file maps to no bytes; folders, pipes and absent files are refused", "[file]") {
  TemporaryFolder folder;
  CHECK(MappedFile::open(folder.write("empty", "")).valueOrThrow()->bytes().empty());
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const auto refusal = [](const std::string &path) {
    const StatusOr<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
    return file.isOk() || file.status().kind() != ErrorKind::io_error ? "" : file.status().message();
  };
  CHECK(refusal(folder.path) == "cannot read " + folder.path.string() + ": Is a directory");
  CHECK(refusal(folder / "pipe") == "cannot read " + (folder / "pipe") + ": not a regular file");
  CHECK(refusal(folder / "absent") == "cannot read " + (folder / "absent") + ": No such file or directory");
}
