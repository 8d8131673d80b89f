// Files that are opened, and files that are rejected before they block or exhaust memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/OpenFile.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace halftone;
using Catch::Matchers::EndsWith;
namespace fs = std::filesystem;

static Status refusal(const std::string &path) {
  const StatusOr<std::string> text = readFile(path, 1000);
  REQUIRE_FALSE(text.isOk());
  return text.status();
}

TEST_CASE("Only regular files are opened: no FIFO, device, socket or folder, not even behind a symlink", "[file]") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("pipe", folder / "link");
  for (const std::string &path :
       {folder / "pipe", folder / "link", std::string("/dev/zero"), std::string("/dev/tty")}) {
    INFO(path);
    CHECK(refusal(path).kind() == ErrorKind::io_error);
    CHECK(refusal(path).message() == "cannot read " + path + ": not a regular file");
  }
  CHECK_THAT(refusal(folder.path).message(), EndsWith(": Is a directory"));
  CHECK_THAT(refusal(folder / "absent").message(), EndsWith("absent: No such file or directory"));
  CHECK(refusal("").message() == "cannot read '': No such file or directory");
}

TEST_CASE("A symlink is followed, or refused where asked for", "[file]") {
  const TemporaryFolder folder;
  folder.write("file", "text");
  fs::create_symlink("file", folder / "link");
  CHECK(readFile(folder / "link").valueOrThrow() == "text");
  CHECK(openFile(folder / "file", Symlink::refused).isOk());
  CHECK_THAT(openFile(folder / "link", Symlink::refused).status().message(), EndsWith("link: a symlink"));
}

TEST_CASE("A path with a null byte is a value_error whose text is whole", "[file]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("notes.txt", "notes") + std::string("\0.npy", 5);
  CHECK(refusal(path).kind() == ErrorKind::value_error);
  CHECK_THAT(refusal(path).toError().what(), EndsWith("notes.txt\\x00.npy"));
}

TEST_CASE("A file with more bytes than a reader takes, or than fit into memory, is refused before it is read",
          "[file]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", std::string(1000, 'x'));
  CHECK(readFile(path, 1000).valueOrThrow() == std::string(1000, 'x'));
  CHECK_THAT(readFile(path, 999).status().message(), EndsWith("it has more than 999 bytes"));
  REQUIRE(::truncate(path.c_str(), int64_t{3} << 40) == 0); // a sparse file
  CHECK_THAT(refusal(path).message(), EndsWith("it has more than 1000 bytes"));
  CHECK_THAT(readFile(path).status().message(), EndsWith(" free"));
}

TEST_CASE("A library is a regular file too; the reason of an absent one is the loader's", "[file]") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe.so").c_str(), 0600) == 0);
  CHECK_THAT(openLibrary(folder / "pipe.so", RTLD_NOW).status().message(), EndsWith("not a regular file"));
  CHECK_THAT(openLibrary(folder / "absent.so", RTLD_NOW).status().message(), EndsWith("No such file or directory"));
  CHECK(openLibrary("libc.so.6", RTLD_NOW).isOk());
}

TEST_CASE("Files that tell no size are read to their end", "[file]") {
  CHECK(readFile("/proc/self/status").valueOrThrow().find("VmSize:") != std::string::npos);
  CHECK(readFile("/proc/self/maps").valueOrThrow().size() > 4096);
}
