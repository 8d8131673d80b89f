// The permission to use AMX tiles.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/TilePermission.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

TEST_CASE("Tiles may be used only where the CPU has them") {
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.find("amx_tile") == std::string::npos)
    CHECK_FALSE(halftone::mayUseTiles());
  CHECK(halftone::mayUseTiles() == halftone::mayUseTiles());
}
