// Patterns that must match a whole path.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/policy/PathPattern.h"
#include "halftone/Error.h"
#include "tests/runtime/policy/PolicyFacts.h"
#include <catch2/catch.hpp>

using namespace halftone;
using Catch::Contains;

TEST_CASE("A path pattern matches whole paths") {
  CHECK(PathPattern("a|ab").matches("ab")); // the second alternative, as in fullmatch
  CHECK(PathPattern(".*?").matches("net/x"));
  CHECK_FALSE(PathPattern("net").matches("net/x"));
  CHECK_FALSE(PathPattern("x").matches("net/x"));
  CHECK_FALSE(PathPattern("a$").matches("a\n"));
  CHECK_FALSE(PathPattern("a").matches("a\n"));
  CHECK(PathPattern("").matches(""));
  CHECK(PathPattern("\\w+").matches("caf\xc3\xa9"));
  CHECK_FALSE(PathPattern("(?a)\\w+").matches("caf\xc3\xa9"));
  CHECK(PathPattern("caf.").matches("caf\xc3\xa9"));
}

TEST_CASE("Bytes that are not UTF-8 match no pattern, and are none") {
  CHECK_FALSE(PathPattern(".*").matches("net/\xff"));
  CHECK_THAT(failureOf([] { PathPattern pattern("a\xff"); }), Contains("ValueError: ") && Contains("UTF-8"));
}

TEST_CASE("The error of a bad pattern names the pattern and the place in it") {
  CHECK(failureOf([] { PathPattern pattern("net/("); }) ==
        "ValueError: 'net/(' is not a regular expression: missing ), unterminated subpattern at position 4");
  CHECK_THAT(failureOf([] { PathPattern pattern(std::string(100000, '(') + std::string(100000, ')')); }),
             Contains("nest"));
  CHECK_THAT(failureOf([] { PathPattern pattern("a{70000}"); }), Contains("ValueError: ") && Contains("too big"));
}

TEST_CASE("Patterns of up to 30,000 characters are compiled, and much longer ones refused") {
  CHECK(PathPattern(std::string(30000, 'a')).matches(std::string(30000, 'a')));
  CHECK_THAT(failureOf([] { PathPattern pattern(std::string(100000, 'a')); }),
             Contains("ValueError: ") && Contains("too large"));
}

TEST_CASE("A match that takes too many steps is given up") {
  for (const char *pattern : {"(a+)+[bc]", "(a|a)*[bc]", "(.*)*\\1[xy]", "((a*)*)*[bc]"})
    CHECK_THAT(failureOf([&] { (void)PathPattern(pattern).matches(std::string(200, 'a')); }),
               Contains("ValueError: ") && Contains("abandoned"));
}

TEST_CASE("isLiteral tells plain text from patterns") {
  CHECK(PathPattern::isLiteral("net/dense_1"));
  CHECK(PathPattern::isLiteral(""));
  for (const char *pattern : {"a.", "a*", "[a]", "a|b", "(a)", "a\\b", "^a", "a$", "a+", "a?", "a{2}"})
    CHECK_FALSE(PathPattern::isLiteral(pattern));
}

TEST_CASE("A pattern may occur in a part of the path only") {
  const auto finds = [](const char *pattern, const char *path) {
    return std::pair(PathPattern(pattern).matches(path), PathPattern(pattern).occursIn(path));
  };
  CHECK(finds("encoder", "net/encoder_0") == std::pair(false, true));
  CHECK(finds("net/.*_0", "net/encoder_0") == std::pair(true, true));
  CHECK(finds("^encoder", "net/encoder_0") == std::pair(false, false));
  CHECK(finds("0$", "net/encoder_0") == std::pair(false, true));
  CHECK(finds("a|net", "net/a") == std::pair(false, true));
}
