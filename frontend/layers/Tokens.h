// Tokenization of texts, as in TextVectorization.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/LayersPreprocessing.h"
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

struct TokenRules {
  layers::Standardize standardize = "lower_and_strip_punctuation";
  layers::Split split = "whitespace";
  layers::Ngrams ngrams{};
};

/// Tokenizes texts one at a time, in reused memory.
class Tokenizer {
public:
  explicit Tokenizer(const TokenRules &rules) : rules_(rules) {}
  /// Valid until the next call.
  const std::vector<std::string_view> &tokens(const std::string &text);
  /// N-grams of texts that are already tokenized.
  const std::vector<std::string_view> &joined(std::vector<std::string_view> tokens);
  std::string standardized(const std::string &text) const;

private:
  void splitWhitespace();
  void splitCharacters();
  void join();
  /// Appends the n-grams of `count` tokens.
  void joinEach(int64_t count, std::vector<std::string_view> &grams);
  const TokenRules &rules_;
  std::string text_;
  std::vector<std::string> parts_; // from a user function
  std::deque<std::string> grams_;
  std::vector<std::string_view> tokens_;
};

/// The first UTF-8 character of a non-empty text: its number of bytes or, for invalid bytes, the text of the
/// replacement character and the number of bytes that it replaces.
struct Character {
  std::string_view text;
  size_t bytes = 1;
};
Character firstCharacter(std::string_view text);

} // namespace halftone::detail
