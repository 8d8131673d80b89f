// Words quoted so that a shell returns them unchanged.
// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/ShellWord.h"
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>

using halftone::tools::shellWord;

namespace {

/// The arguments into which a shell splits the words, each in brackets.
std::string split(const std::string &words) {
  std::FILE *shell = ::popen(("printf '[%s]' " + words).c_str(), "r");
  REQUIRE(shell);
  std::array<char, 4096> buffer;
  const std::string text(buffer.data(), std::fread(buffer.data(), 1, buffer.size(), shell));
  CHECK(::pclose(shell) == 0);
  return text;
}

} // namespace

TEST_CASE("A shell takes each text for one word and changes nothing in it", "[shell]") {
  for (const std::string text : {"", "plain/file-1.mlir", "a b", "it's", "'", "''", "\"$HOME\"", "`id`", "a\\b\\", "*",
                                 "~", "x\ny", "a;b", "#c", "!x", "-n", "\xc3\xa4", "{a,b}"}) {
    CAPTURE(text);
    CHECK(split(shellWord(text) + " " + shellWord(text)) == "[" + text + "][" + text + "]");
  }
}

TEST_CASE("Text that needs no quotes has none", "[shell]") {
  CHECK(shellWord("/tmp/random-ops-3.mlir") == "/tmp/random-ops-3.mlir");
  CHECK(shellWord("a b") == "'a b'");
  CHECK(shellWord("it's") == "'it'\\''s'");
  CHECK(shellWord("") == "''");
}
