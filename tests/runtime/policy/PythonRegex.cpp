// Compares the translation of Python's regular expressions with results recorded from Python.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/policy/PythonRegex.h"
#include "runtime/policy/PathPattern.h"
#include "tests/runtime/policy/PolicyFacts.h"
#include <catch2/catch.hpp>
#include <fstream>

using namespace halftone;
using Json = nlohmann::ordered_json;

TEST_CASE("Syntax that PCRE2 reads differently is rewritten") {
  const char *rows[][2] = {{"net/a_1", "net\\/a_1"},
                           {"a\\Z", "a\\z"},
                           {"a{,2}", "a{0,2}"},
                           {"a{,}", "a{0,}"},
                           {"x{}", "x\\{\\}"},
                           {"\\v", "\\x{b}"},
                           {"\\u0061", "a"},
                           {"(a)\\1", "(a)\\g{1}"},
                           {"\\101", "A"},
                           {"[[:x]", "[\\[\\:x]"},
                           {"(?x) a # b\n c", "ac"},
                           {"(?u)a", "a"},
                           {"(?i)(?s)a", "(?i)(?s)a"},
                           {"(?P<n>a)(?(n)b)", "(?P<n>a)(?(<n>)b)"}};
  for (const auto &row : rows)
    CHECK(translatePythonRegex(row[0]).pattern == row[1]);
  CHECK(translatePythonRegex("(?a)\\w").ascii);
}

TEST_CASE("A bad regular expression fails in Python's words at Python's position") {
  const char *rows[][2] = {{"\\h", "bad escape \\h at position 0"},
                           {"*", "nothing to repeat at position 0"},
                           {"a**", "multiple repeat at position 2"},
                           {"\xc3\xa9(", "missing ), unterminated subpattern at position 1"},
                           {"a)", "unbalanced parenthesis at position 1"},
                           {"[a", "unterminated character set at position 0"},
                           {"\\1", "invalid group reference 1 at position 1"},
                           {"(a\\1)", "cannot refer to an open group at position 3"},
                           {"(?<n>a)", "unknown extension ?<n at position 1"},
                           {"a(?i)", "global flags not at the start of the expression at position 1"},
                           {"\\", "bad escape (end of pattern) at position 0"}};
  for (const auto &row : rows)
    CHECK(failureOf([&] { (void)translatePythonRegex(row[0]); }) == std::string("ValueError: ") + row[1]);
}

// policies 7.10
TEST_CASE("Every pattern recorded from Python matches or fails as it did there") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/python/fullmatch.jsonl");
  std::string line;
  REQUIRE(std::getline(file, line));
  const std::vector<std::string> subjects = Json::parse(line)["subjects"];
  int rows = 0, errors = 0;
  for (; std::getline(file, line); ++rows) {
    const Json row = Json::parse(line);
    const std::string text = row["pattern"];
    INFO(line);
    // Before Python 3.14, \B does not match in an empty text; since 3.14 it does.
    const auto counts = [&](const std::string &s) { return !s.empty() || text.find("\\B") == text.npos; };
    Json matches = Json::array(), expected = Json::array();
    for (const std::string subject : row.value("matches", Json::array()))
      if (counts(subject))
        expected.push_back(subject);
    const std::string failure = failureOf([&] {
      const PathPattern pattern(text);
      for (const std::string &subject : subjects)
        if (counts(subject) && pattern.matches(subject))
          matches.push_back(subject);
    });
    errors += !failure.empty();
    CHECK(failure.empty() != row.contains("error"));
    CHECK(expected == matches);
  }
  CHECK(rows > 3000);
  CHECK(errors > 500);
}
