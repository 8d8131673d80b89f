// The literal prefix and suffix of the paths that a key matches, and an index of keys by them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halftone::tools {

/// The characters with a special meaning in patterns.
constexpr std::string_view specialCharacters = "\\^$.|?*+()[]{}";

/// The prefix and the suffix common to all texts that a pattern matches. They do not overlap.
struct Ends {
  std::string prefix, suffix;
};

/// The ends of a pattern. nullopt if escapes, flags or top-level alternatives hide them, or if the pattern matches a
/// single text.
std::optional<Ends> endsOf(std::string_view pattern);

/// The ends of a pattern that matches every text with these ends, that is, literal text around one `.*`. nullopt for
/// other patterns.
std::optional<Ends> wholeRange(std::string_view pattern);

/// Finds the indices of keys by their ends without visiting every key.
class EndsIndex {
public:
  void add(const Ends &ends, size_t number);
  /// The indices of all ends whose prefix is a prefix of `beginning` and whose suffix is a suffix of `ending`, in
  /// ascending order.
  std::vector<size_t> within(std::string_view beginning, std::string_view ending) const;

private:
  std::unordered_map<std::string, std::unordered_map<std::string, std::vector<size_t>>>
      numbers; // positions by prefix, then suffix
};

} // namespace halftone::tools
