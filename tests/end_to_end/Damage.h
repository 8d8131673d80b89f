// Damages bytes randomly, reproducibly for a seed: truncation, flipped bits, absurd numbers, deep nesting.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

namespace halftone::test {

class Damage {
public:
  Damage(uint64_t seed, int64_t number) : engine_(seed * 0x9E3779B97F4A7C15ull + static_cast<uint64_t>(number)) {}

  uint64_t below(uint64_t n) { return n == 0 ? 0 : engine_() % n; }

  /// The bytes with one to three faults.
  std::string operator()(std::string bytes) {
    for (uint64_t faults = 1 + below(3); faults > 0; --faults)
      damage(bytes);
    return bytes;
  }

private:
  void damage(std::string &bytes) {
    const size_t at = below(bytes.size() + 1), size = std::min<size_t>(1 + below(64), bytes.size() - at);
    switch (below(9)) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      for (uint64_t bits = 1 + below(8); bits > 0 && !bytes.empty(); --bits)
        flip(bytes, below(bytes.size()));
      break;
    case 2:
      if (!bytes.empty())
        flip(bytes, below(std::min<size_t>(bytes.size(), 256)));
      break;
    case 3:
      std::fill_n(bytes.begin() + static_cast<int64_t>(at), size, "\0\xff "[below(3)]);
      break;
    case 4:
      bytes.erase(at, size);
      break;
    case 5:
      bytes.insert(at, bytes.substr(below(bytes.size() + 1), 1 + below(64)));
      break;
    case 6:
      replaceNumber(bytes, at);
      break;
    case 7:
      swapQuoted(bytes, at);
      break;
    default:
      nest(bytes, at);
    }
  }

  void flip(std::string &bytes, size_t at) { bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8)); }

  /// Replaces the first number after `at`.
  void replaceNumber(std::string &bytes, size_t at) {
    constexpr std::string_view absurd[] = {"0",          "-1",
                                           "1",          "2147483648",
                                           "4294967296", "9223372036854775807",
                                           "1e308",      "9223372036854775808",
                                           "0.5",        "18446744073709551615",
                                           "-0",         "100000000000000000000000000"};
    const size_t begin = bytes.find_first_of("0123456789", at);
    if (begin == bytes.npos)
      return;
    const size_t end = std::min(bytes.find_first_not_of("0123456789", begin), bytes.size());
    bytes.replace(begin, end - begin, absurd[below(std::size(absurd))]);
  }

  /// Replaces another quoted text by the first one after `at`.
  void swapQuoted(std::string &bytes, size_t at) {
    const auto quoted = [&](size_t from) {
      const size_t begin = bytes.find('"', from), end = begin == bytes.npos ? begin : bytes.find('"', begin + 1);
      return end == bytes.npos ? std::pair<size_t, size_t>{0, 0} : std::pair(begin, end - begin + 1);
    };
    const auto [begin, size] = quoted(at);
    const auto [other, otherSize] = quoted(below(bytes.size() + 1));
    const std::string text = bytes.substr(begin, size);
    if (size > 0 && otherSize > 0)
      bytes.replace(other, otherSize, text);
  }

  void nest(std::string &bytes, size_t at) {
    const std::string_view opening = below(2) == 0 ? "[" : "{\"a\":";
    std::string text;
    for (uint64_t depth = below(2) == 0 ? 3 : 50000; depth > 0; --depth)
      text += opening;
    bytes.insert(at, text);
  }

  std::mt19937_64 engine_;
};

} // namespace halftone::test
