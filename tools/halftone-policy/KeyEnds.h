// What the paths that a key matches begin and end with, and keys found by it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halftone::tools {

/// The characters that a pattern reads otherwise than as themselves.
constexpr std::string_view specialCharacters = "\\^$.|?*+()[]{}";

/// What every text that a pattern matches begins and ends with. The two parts do not overlap.
struct Ends {
  std::string prefix, suffix;
};

/// nullopt where escapes, flags or alternatives of the whole make it hard to say, and for one text.
std::optional<Ends> endsOf(std::string_view pattern);

/// Of a pattern that matches every text with these ends: literal text around one `.*`.
std::optional<Ends> wholeRange(std::string_view pattern);

/// Numbers by ends, found without looking at all of them.
class EndsIndex {
public:
  void add(const Ends &ends, size_t number);
  /// Those whose prefix `beginning` begins with and whose suffix `ending` ends with, in ascending order.
  std::vector<size_t> within(std::string_view beginning, std::string_view ending) const;

private:
  std::unordered_map<std::string, std::unordered_map<std::string, std::vector<size_t>>>
      numbers; // by prefix, then suffix
};

} // namespace halftone::tools
