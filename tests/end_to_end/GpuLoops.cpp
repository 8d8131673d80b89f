// Loops compiled for a GPU.
// SPDX-License-Identifier: Apache-2.0
#include "LoopPrograms.h"
#include "OpChecks.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;

TEST_CASE("Loops on a GPU give what the interpreter says") {
  for (const LoopProgram &program : loopPrograms({1, 7}))
    for (const bool strict : {true, false}) {
      INFO(program.name);
      tools::CompareOptions options = optionsFor(Sm80::target, strict);
      options.byLayer = false; // the device plays the plan itself, from the second step on as a graph
      const StatusOr<tools::Comparison> comparison = compareProgram(program.text, options, 1, 3);
      INFO(comparison.status().str());
      REQUIRE(comparison.isOk());
      for (const std::string &line : differencesOf(*comparison))
        FAIL_CHECK(line);
    }
}
