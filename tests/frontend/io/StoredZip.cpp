// Zips without compression: members written in pieces, and the zip64 format of large ones.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/StoredZip.h"
#include "frontend/io/KerasArchive.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <sstream>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

std::string read(const detail::KerasArchive &archive, const char *member) {
  const detail::FileRange data = archive.data(member, 1 << 20);
  CHECK(data.offset % 64 == 0);
  std::string text(static_cast<size_t>(data.bytes), '\0');
  data.file.readAt(data.offset, std::as_writable_bytes(std::span(text)), member);
  return text;
}
std::string bytesOf(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

} // namespace

TEST_CASE("A zip holds its members in pieces, with fields of 32 or of 64 bits") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.zip", large(100000, 'x');
  for (const uint64_t most : {0xffffffffull, 100000ull, 100ull, 1ull}) {
    INFO(most);
    REQUIRE(
        detail::writeStoredZip(
            path, {{"a.json", {"{\"a\"", ":1}"}}, {"empty", {}}, {"large", {large, "", "end"}}, {"last", {"z"}}}, most)
            .isOk());
    const detail::KerasArchive archive(path);
    CHECK(archive.json("a.json").get_int("a") == 1);
    CHECK(read(archive, "empty").empty());
    CHECK(read(archive, "large") == large + "end");
    CHECK(read(archive, "last") == "z");
    const std::string bytes = bytesOf(path);
    const auto count = [&](std::string_view mark) {
      size_t found = 0;
      for (size_t at = bytes.find(mark); at != bytes.npos; at = bytes.find(mark, at + 1))
        ++found;
      return found;
    };
    // A wide member adds 20 bytes before it and 28 in the directory, and there is one zip64 end of directory.
    const size_t wide = most == 0xffffffff ? 0 : most == 100000 ? 2 : most == 100 ? 2 : 4;
    CHECK(count(std::string_view("\1\0\20\0", 4)) == wide);
    CHECK(count(std::string_view("\1\0\30\0", 4)) == wide);
    CHECK(count("PK\6\6") == (wide > 0));
  }
}

TEST_CASE("A stored member whose bytes have changed is refused") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.zip";
  REQUIRE(detail::writeStoredZip(path, {{"config.json", {"{\"a\":1}"}}}).isOk());
  std::string bytes = bytesOf(path);
  bytes[bytes.find(":1}") + 1] = '2';
  folder.write("a.zip", bytes);
  CHECK_THAT(errorOf([&] { (void)detail::KerasArchive(path).json("config.json"); }),
             Contains("IOError: ") && Contains("damaged data in config.json: CRC error"));
}
