// Standardizes and splits texts as TensorFlow does: ASCII letters, punctuation and white space; UTF-8 characters.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Tokens.h"
#include <algorithm>
#include <array>

namespace halftone::detail {

/// A table of the values of `f` for all bytes.
template <class F> static constexpr auto tableOf(F f) {
  std::array<decltype(f(char())), 256> table{};
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = f(static_cast<char>(i));
  return table;
}
static constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
static constexpr bool isPunctuation(char c) {
  return c > ' ' && c < '\x7f' && !(c >= '0' && c <= '9') && !(lower(c) >= 'a' && lower(c) <= 'z');
}
static constexpr auto spaces = tableOf([](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
static bool isSpace(char c) { return spaces[static_cast<uint8_t>(c)]; }

std::string Tokenizer::standardized(const std::string &text) const {
  if (rules_.standardize.function())
    return rules_.standardize.function()(text);
  static constexpr auto lowers = tableOf(lower), same = tableOf([](char c) { return c; });
  static constexpr auto kept = tableOf([](char c) { return !isPunctuation(c); }),
                        all = tableOf([](char) { return true; });
  const std::string &word = rules_.standardize.word();
  const auto &letters = word.starts_with("lower") ? lowers : same;
  const auto &stays = word.ends_with("strip_punctuation") ? kept : all;
  std::string result(text.size(), '\0');
  size_t length = 0;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    result[length] = letters[byte];
    length += stays[byte];
  }
  result.resize(length);
  return result;
}

/// The length of a UTF-8 sequence by its first byte, and the valid range of the second byte, which excludes overlong
/// forms, surrogates and values above U+10FFFF. Length 0 for an invalid first byte.
struct Lead {
  size_t bytes;
  uint8_t least = 0x80, most = 0xbf;
};
static Lead leadOf(uint8_t byte) {
  if (byte < 0x80)
    return {1};
  if (byte < 0xc2 || byte > 0xf4)
    return {0};
  if (byte < 0xe0)
    return {2};
  if (byte < 0xf0)
    return {3, static_cast<uint8_t>(byte == 0xe0 ? 0xa0 : 0x80), static_cast<uint8_t>(byte == 0xed ? 0x9f : 0xbf)};
  return {4, static_cast<uint8_t>(byte == 0xf0 ? 0x90 : 0x80), static_cast<uint8_t>(byte == 0xf4 ? 0x8f : 0xbf)};
}

Character firstCharacter(std::string_view text) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  const Lead lead = leadOf(static_cast<uint8_t>(text[0]));
  if (lead.bytes == 0)
    return {replacement, 1};
  for (size_t i = 1; i < lead.bytes; ++i) {
    const uint8_t byte = i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
    const bool isSecond = i == 1;
    if (byte < (isSecond ? lead.least : 0x80) || byte > (isSecond ? lead.most : 0xbf))
      return {replacement, i};
  }
  return {text.substr(0, lead.bytes), lead.bytes};
}

void Tokenizer::splitWhitespace() {
  const char *at = text_.data(), *const end = at + text_.size();
  for (;;) {
    at = std::find_if_not(at, end, isSpace);
    if (at == end)
      return;
    const char *const stop = std::find_if(at, end, isSpace);
    tokens_.emplace_back(at, stop);
    at = stop;
  }
}

void Tokenizer::splitCharacters() {
  for (std::string_view rest = text_; !rest.empty();) {
    const Character character = firstCharacter(rest);
    tokens_.push_back(character.text);
    rest.remove_prefix(character.bytes);
  }
}

void Tokenizer::joinEach(int64_t count, std::vector<std::string_view> &grams) {
  for (size_t first = 0; first + static_cast<size_t>(count) <= tokens_.size(); ++first) {
    std::string &gram = grams_.emplace_back(tokens_[first]);
    for (size_t i = 1; i < static_cast<size_t>(count); ++i) {
      gram += ' ';
      gram += tokens_[first + i];
    }
    grams.push_back(gram);
  }
}

void Tokenizer::join() {
  const layers::Ngrams &ngrams = rules_.ngrams;
  if (!ngrams.most() && ngrams.counts().empty())
    return;
  grams_.clear();
  std::vector<std::string_view> grams;
  for (int64_t count = 1; count <= std::min(ngrams.most().value_or(0), std::ssize(tokens_)); ++count)
    joinEach(count, grams);
  for (const int64_t count : ngrams.counts())
    joinEach(count, grams);
  tokens_ = std::move(grams);
}

const std::vector<std::string_view> &Tokenizer::joined(std::vector<std::string_view> tokens) {
  tokens_ = std::move(tokens);
  join();
  return tokens_;
}

const std::vector<std::string_view> &Tokenizer::tokens(const std::string &text) {
  text_ = standardized(text);
  tokens_.clear();
  if (rules_.split.function()) {
    parts_ = rules_.split.function()(text_);
    tokens_.assign(parts_.begin(), parts_.end());
  } else if (rules_.split.word() == "whitespace") {
    splitWhitespace();
  } else {
    splitCharacters();
  }
  join();
  return tokens_;
}

} // namespace halftone::detail
