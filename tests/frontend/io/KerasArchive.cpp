// .keras archives: those written by Keras, and many kinds of malformed files.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/KerasArchive.h"
#include "frontend/io/StoredZip.h"
#include "halftone/Error.h"
#include "runtime/base/FileLimits.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>
#include <zip.h>

using namespace halftone;
using Catch::Matchers::Contains;
using detail::KerasArchive, detail::maxJsonBytes;
namespace fs = std::filesystem;

namespace {
struct Folder : TemporaryFolder {
  std::string write(const std::string &bytes) const { return TemporaryFolder::write("written.keras", bytes); }
  std::string zip(const std::string &member, const std::string &text, bool deflated = false) const {
    const std::string file = (path / "zipped.keras").string();
    fs::remove(file);
    zip_t *archive = zip_open(file.c_str(), ZIP_CREATE, nullptr);
    REQUIRE(archive);
    const zip_int64_t index = zip_file_add(archive, member.c_str(),
                                           zip_source_buffer(archive, text.data(), text.size(), 0), ZIP_FL_OVERWRITE);
    REQUIRE(index == 0);
    zip_set_file_compression(archive, 0, deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    REQUIRE(zip_close(archive) == 0);
    return file;
  }
};

std::string bytesOf(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The text of the error for a malformed config.json.
std::string errorOf(const std::string &path) {
  try {
    (void)KerasArchive(path).json("config.json");
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

const std::string sample = HALFTONE_SOURCE_DIR "/tests/data/keras/archives/sequential.keras";
} // namespace

TEST_CASE("a .keras archive's members are JSON objects, stored or deflated") {
  const KerasArchive archive(sample);
  CHECK(archive.contains("metadata.json"));
  CHECK_FALSE(archive.contains("assets"));
  CHECK(archive.json("config.json").get_string("class_name") == "Sequential");
  CHECK(archive.json("metadata.json").get_string("keras_version").starts_with("3."));
  const Folder folder;
  CHECK(KerasArchive(folder.zip("config.json", R"({"class_name": "X"})", true))
            .json("config.json")
            .contains("class_name"));
}

TEST_CASE("a file that is no .keras archive is refused with its path, the expected and the found bytes") {
  const Folder folder;
  CHECK_THAT(errorOf((folder.path / "absent.keras").string()),
             Contains("IOError: cannot read") && Contains("No such file"));
  for (const std::string &bytes :
       {std::string(), std::string("PK"), std::string("{\"class_name\": 1}"), std::string(100, '\0')})
    CHECK_THAT(errorOf(folder.write(bytes)),
               Contains("IOError: ") && Contains("written.keras: expected a .keras archive"));
  CHECK_THAT(errorOf(folder.path.string()), Contains("IOError: cannot read ") && Contains("Is a directory"));
  CHECK_THAT(errorOf(folder.write("")), Contains("found: an empty file"));
  CHECK_THAT(errorOf(folder.zip("model.weights.h5", "x")), Contains("a zip with config.json; found: No such file"));
}

TEST_CASE("every cut and every flipped byte of a .keras archive gives an error or the same object") {
  const std::string whole = bytesOf(sample), config = KerasArchive(sample).json("config.json").dump();
  const Folder folder;
  for (size_t size = 0; size < whole.size(); size += whole.size() / 97)
    CHECK_THAT(errorOf(folder.write(whole.substr(0, size))), Contains("IOError: "));
  const size_t begin = whole.find("config.json");
  int damaged = 0;
  for (size_t at = begin; at < begin + 4000; at += 41) {
    std::string bytes = whole;
    bytes[at] ^= 0x10;
    const std::string file = folder.write(bytes);
    if (errorOf(file) != "no error")
      ++damaged;
    else
      CHECK(KerasArchive(file).json("config.json").dump() == config);
  }
  CHECK(damaged > 90);
}

TEST_CASE("a .keras archive in which a member stands twice is refused") {
  const Folder folder;
  const std::string path = folder.write("");
  for (const bool isTwice : {false, true}) {
    detail::writeStoredZip(path, {{"config.json", {R"({"a":1})"}}, {isTwice ? "config.json" : "b", {R"({"a":2})"}}})
        .orThrow();
    CHECK_THAT(errorOf(path), Contains(isTwice ? "IOError: " + path : "no error"));
    CHECK_THAT(errorOf(path), Contains(isTwice ? "found: config.json twice" : "no error"));
  }
}

TEST_CASE("a .keras archive with bad, too deep or too large JSON is refused") {
  const Folder folder;
  CHECK_THAT(errorOf(folder.zip("config.json", "{\"a\": ")),
             Contains("ValueError: ") && Contains("config.json: Invalid JSON"));
  CHECK_THAT(errorOf(folder.zip("config.json", "[1]")), Contains("expected an object, found a list"));
  CHECK_THAT(errorOf(folder.zip("config.json", std::string(100000, '['))), Contains("levels of nesting"));
  const std::string blanks = "{" + std::string(maxJsonBytes, ' ') + "}";
  CHECK_THAT(errorOf(folder.zip("config.json", blanks, true)), Contains("config.json of more than 32 MiB"));
}
