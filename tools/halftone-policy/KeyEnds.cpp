// Extracts the literal ends of patterns.
// SPDX-License-Identifier: Apache-2.0
#include "KeyEnds.h"
#include <algorithm>

namespace halftone::tools {
namespace {

std::string_view withoutAnchors(std::string_view pattern) {
  if (pattern.starts_with('^'))
    pattern.remove_prefix(1);
  if (pattern.ends_with('$') && !pattern.ends_with("\\$"))
    pattern.remove_suffix(1);
  return pattern;
}

/// Returns true if the pattern has alternatives at the top level, outside of any group.
bool hasAlternatives(std::string_view pattern) {
  int depth = 0;
  bool inSet = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool first = i > 0 && (pattern[i - 1] == '[' || (pattern[i - 1] == '^' && i > 1 && pattern[i - 2] == '['));
    if (inSet)
      inSet = c != ']' || first; // in "[]a]" the first bracket is a literal
    else if (c == '[')
      inSet = true;
    else if (c == '|' && depth == 0)
      return true;
    else
      depth += (c == '(') - (c == ')');
  }
  return false;
}

} // namespace

std::optional<Ends> endsOf(std::string_view pattern) {
  pattern = withoutAnchors(pattern);
  if (pattern.find('\\') != pattern.npos || pattern.find("(?") != pattern.npos || hasAlternatives(pattern))
    return std::nullopt;
  size_t first = pattern.find_first_of(specialCharacters);
  if (first == pattern.npos)
    return std::nullopt; // matches a single text
  const size_t last = pattern.find_last_of(specialCharacters);
  const bool quantifies = std::string_view("?*+{").find(pattern[first]) != std::string_view::npos;
  if (quantifies && first > 0) // the quantifier applies to the preceding character, which may have several bytes
    do
      --first;
    while (first > 0 && (pattern[first] & 0xC0) == 0x80);
  return Ends{std::string(pattern.substr(0, first)), std::string(pattern.substr(last + 1))};
}

std::optional<Ends> wholeRange(std::string_view pattern) {
  pattern = withoutAnchors(pattern);
  const size_t dots = pattern.find(".*");
  if (dots == pattern.npos)
    return std::nullopt;
  const std::string_view prefix = pattern.substr(0, dots), suffix = pattern.substr(dots + 2);
  if (prefix.find_first_of(specialCharacters) != prefix.npos || suffix.find_first_of(specialCharacters) != suffix.npos)
    return std::nullopt;
  return Ends{std::string(prefix), std::string(suffix)};
}

void EndsIndex::add(const Ends &ends, size_t number) { numbers[ends.prefix][ends.suffix].push_back(number); }

std::vector<size_t> EndsIndex::within(std::string_view beginning, std::string_view ending) const {
  std::vector<size_t> found;
  for (size_t i = 0; i <= beginning.size(); ++i) {
    const auto prefix = numbers.find(std::string(beginning.substr(0, i)));
    if (prefix == numbers.end())
      continue;
    for (size_t j = 0; j <= ending.size(); ++j)
      if (const auto suffix = prefix->second.find(std::string(ending.substr(j))); suffix != prefix->second.end())
        found.insert(found.end(), suffix->second.begin(), suffix->second.end());
  }
  std::ranges::sort(found);
  return found;
}

} // namespace halftone::tools
