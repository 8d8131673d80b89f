// Checking an output path leaves the folder unchanged.
// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/OutputFile.h"
#include "runtime/base/WriteFile.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <filesystem>

namespace fs = std::filesystem;
using namespace halftone;
using tools::faultOfOutput;

TEST_CASE("A file that can be written is as before the check, and an absent one is absent", "[output]") {
  const TemporaryFolder folder;
  const std::string file = folder / "file", absent = folder / "absent";
  REQUIRE(writeFile(file, {"kept"}).isOk());
  CHECK(faultOfOutput(file).empty());
  CHECK(readFile(file).valueOrThrow() == "kept");
  CHECK(faultOfOutput(absent).empty());
  CHECK_FALSE(fs::exists(absent));
}

TEST_CASE("A symlink stays, and where it led to no file there is none after the check", "[output]") {
  const TemporaryFolder folder;
  const fs::path link(folder / "link"), further(folder / "further");
  fs::create_symlink("absent", link);
  fs::create_symlink("link", further);
  for (const fs::path &each : {link, further}) {
    CAPTURE(each.string());
    CHECK(faultOfOutput(each.string()).empty());
    CHECK(fs::is_symlink(link));
    CHECK(fs::is_symlink(further));
    CHECK_FALSE(fs::exists(link));
  }
  REQUIRE(writeFile(further.string(), {"written"}).isOk());
  CHECK(faultOfOutput(further.string()).empty());
  CHECK(readFile(folder / "absent").valueOrThrow() == "written");
}

TEST_CASE("A file that cannot be written is a fault, and a symlink to it stays", "[output]") {
  const TemporaryFolder folder;
  const std::string link = folder / "link";
  fs::create_symlink("no/such", link);
  CHECK_THAT(faultOfOutput(link), Catch::EndsWith("No such file or directory"));
  CHECK(fs::is_symlink(link));
  CHECK_THAT(faultOfOutput(folder.path.string()), Catch::EndsWith("Is a directory"));
}
