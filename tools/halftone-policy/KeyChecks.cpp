// Keys that match too much, too little or nothing.
// SPDX-License-Identifier: Apache-2.0
#include "KeyChecks.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace halftone::tools {
namespace {

constexpr std::string_view special = "\\^$.|?*+()[]{}";

/// What every text that a pattern matches begins and ends with. The two parts do not overlap.
struct Ends {
  std::string prefix, suffix;
};

std::string_view withoutAnchors(std::string_view pattern) {
  if (pattern.starts_with('^'))
    pattern.remove_prefix(1);
  if (pattern.ends_with('$') && !pattern.ends_with("\\$"))
    pattern.remove_suffix(1);
  return pattern;
}

/// nullopt where alternatives, escapes or flags make it hard to say.
std::optional<Ends> endsOf(std::string_view pattern) {
  pattern = withoutAnchors(pattern);
  if (pattern.find_first_of("|\\") != pattern.npos || pattern.find("(?") != pattern.npos)
    return std::nullopt;
  size_t first = pattern.find_first_of(special);
  if (first == pattern.npos)
    return std::nullopt; // one text
  const size_t last = pattern.find_last_of(special);
  const bool quantifies = std::string_view("?*+{").find(pattern[first]) != std::string_view::npos;
  if (quantifies && first > 0) // it is about the character before it, which may be several bytes
    do
      --first;
    while (first > 0 && (pattern[first] & 0xC0) == 0x80);
  return Ends{std::string(pattern.substr(0, first)), std::string(pattern.substr(last + 1))};
}

/// Of a pattern that matches every text with these ends: literal text around one `.*`.
std::optional<Ends> wholeRange(std::string_view pattern) {
  pattern = withoutAnchors(pattern);
  const size_t dots = pattern.find(".*");
  if (dots == pattern.npos)
    return std::nullopt;
  const std::string_view prefix = pattern.substr(0, dots), suffix = pattern.substr(dots + 2);
  if (prefix.find_first_of(special) != prefix.npos || suffix.find_first_of(special) != suffix.npos)
    return std::nullopt;
  return Ends{std::string(prefix), std::string(suffix)};
}

/// The one text that a pattern of escapes matches, as re.escape() writes it.
std::optional<std::string> onlyText(std::string_view pattern) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool escaped = pattern[i] == '\\' && i + 1 < pattern.size();
    if (escaped)
      ++i;
    const bool isSpecial = special.find(pattern[i]) != special.npos;
    const bool isWord = std::isalnum(static_cast<unsigned char>(pattern[i])) != 0;
    if (escaped ? isWord : isSpecial)
      return std::nullopt;
    text += pattern[i];
  }
  return text;
}

bool canBePath(std::string_view text) {
  return !text.empty() && text.front() != '/' && text.back() != '/' && text.find("//") == text.npos;
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j - 1] + 1, row[j] + 1, replaced});
    }
  }
  return row.back();
}

std::string nearest(const std::string &key, const RecordedModel &model) {
  if (model.layers.empty())
    return "the model has none";
  const auto best =
      std::ranges::min_element(model.layers, {}, [&](const RecordedLayer &layer) { return distance(key, layer.path); });
  return fmt::format("the nearest path is '{}'", best->path);
}

std::optional<Finding> unreachable(const MapEntry &entry, const MapFile &map) {
  const std::optional<std::string> text = onlyText(entry.key);
  if (!text)
    return std::nullopt;
  if (!canBePath(*text))
    return Finding{false, "P005", fmt::format("'{}' can match no path: names are joined by single slashes", entry.key)};
  if (!entry.isLiteral && std::ranges::any_of(map.entries, [&](const MapEntry &other) { return other.key == *text; }))
    return Finding{false, "P005",
                   fmt::format("'{}' never decides: it matches '{}' only, which is a key itself", entry.key, *text)};
  return std::nullopt;
}

/// How a key that decides for no path of the model misses.
std::optional<Finding> missing(const MapEntry &entry, const MapFile &map, const RecordedModel &model) {
  PathGroups parts, shadowed;
  for (const RecordedLayer &layer : model.layers) {
    const bool isExact = std::ranges::any_of(map.entries, [&](const auto &other) { return other.key == layer.path; });
    if (entry.key == layer.path || (entry.pattern->matches(layer.path) && !isExact))
      return std::nullopt;
    if (entry.pattern->matches(layer.path))
      shadowed.add("", layer.path);
    else if (entry.pattern->occursIn(layer.path))
      parts.add("", layer.path);
  }
  for (const auto &[paths, what] : shadowed.list())
    return Finding{false, "P005",
                   fmt::format("'{}' never decides: all that it matches has a key of its own ({})", entry.key, paths)};
  for (const auto &[paths, what] : parts.list())
    return Finding{false, "P004",
                   fmt::format("'{}' matches only a part of {}: a key has to match the whole path", entry.key, paths)};
  return Finding{false, "P001", fmt::format("'{}' matches no layer; {}", entry.key, nearest(entry.key, model))};
}

} // namespace

std::vector<Finding> checkKeys(const MapFile &map) {
  std::vector<Finding> findings;
  for (const MapEntry &entry : map.entries) {
    const std::optional<Ends> narrow = entry.pattern ? endsOf(entry.key) : std::nullopt;
    if (!narrow)
      continue;
    for (const MapEntry &other : map.entries) {
      const std::optional<Ends> wide = &other == &entry || !other.pattern ? std::nullopt : wholeRange(other.key);
      if (!wide || !narrow->prefix.starts_with(wide->prefix) || !narrow->suffix.ends_with(wide->suffix))
        continue;
      if (const std::optional<Ends> back = wholeRange(entry.key);
          back && back->prefix == wide->prefix && back->suffix == wide->suffix && &entry > &other)
        continue; // said of the other
      findings.push_back(
          {true, "P002", fmt::format("every path that '{}' matches, '{}' matches too", entry.key, other.key)});
    }
  }
  for (const MapEntry &entry : map.entries)
    if (std::optional<Finding> finding = unreachable(entry, map))
      findings.push_back(std::move(*finding));
  return findings;
}

std::vector<Finding> checkKeys(const MapFile &map, const RecordedModel &model) {
  std::vector<Finding> findings;
  PathGroups ambiguous;
  for (const RecordedLayer &layer : model.layers) {
    std::string keys;
    const std::vector<const MapEntry *> found = map.matching(layer.path);
    for (size_t i = 0; i < found.size(); ++i)
      keys += fmt::format("{}'{}'", i == 0 ? "" : i + 1 < found.size() ? ", " : " and ", found[i]->key);
    if (found.size() > 1)
      ambiguous.add(keys, layer.path);
  }
  for (const auto &[paths, keys] : ambiguous.list())
    findings.push_back({true, "P002", fmt::format("{} matches {}", paths, keys)});
  for (const MapEntry &entry : map.entries)
    if (std::optional<Finding> finding = unreachable(entry, map))
      findings.push_back(std::move(*finding));
    else if (entry.pattern)
      if (std::optional<Finding> miss = missing(entry, map, model))
        findings.push_back(std::move(*miss));
  return findings;
}

} // namespace halftone::tools
