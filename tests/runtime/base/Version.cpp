// The version of the loaded library.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Version.h"
#include <catch2/catch.hpp>
#include <string>

TEST_CASE("The library has the version of its headers") {
  CHECK(std::string(halftone::version()) == std::to_string(HALFTONE_VERSION_MAJOR) + "." +
                                                std::to_string(HALFTONE_VERSION_MINOR) + "." +
                                                std::to_string(HALFTONE_VERSION_PATCH));
}
