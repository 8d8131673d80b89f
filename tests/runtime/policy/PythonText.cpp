// Python's parsing of integers and printing of strings.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/policy/PythonText.h"
#include <catch2/catch.hpp>

using namespace halftone;

TEST_CASE("pythonInteger reads text as Python's int does") {
  CHECK(pythonInteger("0") == 0);
  CHECK(pythonInteger(" \t-12\n") == -12);
  CHECK(pythonInteger("+1_000") == 1000);
  CHECK(pythonInteger("-0") == 0);
  CHECK(pythonInteger("9223372036854775807") == INT64_MAX);
  for (const char *bad : {"", " ", "-", "+-1", "_1", "1_", "1__0", "1.0", "0x1", "1 2", "9223372036854775808", "None"})
    CHECK_FALSE(pythonInteger(bad));
}

TEST_CASE("pythonRepr writes strings as Python's repr does") {
  CHECK(pythonRepr("net/.*") == "'net/.*'");
  CHECK(pythonRepr("\\w+") == "'\\\\w+'");
  CHECK(pythonRepr("it's") == "\"it's\"");
  CHECK(pythonRepr("\"") == "'\"'");
  CHECK(pythonRepr("'\"") == "'\\'\"'");
  CHECK(pythonRepr(std::string("\n\r\t\0\x7f", 5)) == "'\\n\\r\\t\\x00\\x7f'");
  CHECK(pythonRepr("caf\xc3\xa9") == "'caf\xc3\xa9'");
}

TEST_CASE("pythonRepr writes floats as Python's repr does") {
  CHECK(pythonRepr(2.0) == "2.0");
  CHECK(pythonRepr(0.1) == "0.1");
  CHECK(pythonRepr(1e-7) == "1e-07");
  CHECK(pythonRepr(1e16) == "1e+16");
  CHECK(pythonRepr(-32768.0) == "-32768.0");
}
