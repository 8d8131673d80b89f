// Tokens of texts: standardized, split into words or characters, and joined into n-grams.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Tokens.h"
#include <catch2/catch.hpp>

using namespace halftone::detail;

namespace {
std::vector<std::string> tokensOf(const TokenRules &rules, const std::string &text) {
  Tokenizer tokenizer(rules);
  const std::vector<std::string_view> &tokens = tokenizer.tokens(text);
  return {tokens.begin(), tokens.end()};
}
using Texts = std::vector<std::string>;
} // namespace

TEST_CASE("Only ASCII's letters, punctuation and white space count") {
  CHECK(tokensOf({}, " A-b,\t\xc3\x89! \xe3\x80\x80\n") == Texts{"ab", "\xc3\x89", "\xe3\x80\x80"});
  CHECK(tokensOf({.standardize = "lower"}, "A-b C") == Texts{"a-b", "c"});
  CHECK(tokensOf({.standardize = "strip_punctuation"}, "A-b C~") == Texts{"Ab", "C"});
  CHECK(tokensOf({.standardize = ""}, "A-b\vC\fd\re") == Texts{"A-b", "C", "d", "e"});
  CHECK(tokensOf({}, "").empty());
}

TEST_CASE("Characters are those of UTF-8, and bytes that are none become replacement characters as in TensorFlow") {
  const TokenRules rules{.standardize = "", .split = "character"};
  const std::string no = "\xef\xbf\xbd";
  CHECK(tokensOf(rules, "a\xc3\xa9\xe4\xb8\xad") == Texts{"a", "\xc3\xa9", "\xe4\xb8\xad"});
  CHECK(tokensOf(rules, "a\xff\x62") == Texts{"a", no, "b"});
  CHECK(tokensOf(rules, "\xe4\xb8") == Texts{no});
  CHECK(tokensOf(rules, "\xf0\x90\x80") == Texts{no});
  CHECK(tokensOf(rules, "\xed\xa0\x80") == Texts{no, no, no});
  CHECK(tokensOf(rules, "\xc0\x80") == Texts{no, no});
  CHECK(tokensOf(rules, "\xe0\x80\x80") == Texts{no, no, no});
}

TEST_CASE("N-grams of each count follow one another, and a short text has none of the larger counts") {
  CHECK(tokensOf({.ngrams = {2, 1}}, "a b c") == Texts{"a b", "b c", "a", "b", "c"});
  CHECK(tokensOf({.ngrams = {2}}, "a").empty());
  CHECK(tokensOf({.ngrams = 2}, "a b") == Texts{"a", "b", "a b"});
  CHECK(tokensOf({.ngrams = INT64_MAX}, "a b") == Texts{"a", "b", "a b"});
}

TEST_CASE("Functions of the user's standardize and split") {
  const TokenRules rules{
      .standardize = [](const std::string &text) { return text + "|z"; },
      .split = [](const std::string &text) { return std::vector<std::string>{text.substr(0, 1), text}; }};
  CHECK(tokensOf(rules, "ab") == Texts{"a", "ab|z"});
}
