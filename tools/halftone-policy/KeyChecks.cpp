// Finds keys that match too much, too little or nothing.
// SPDX-License-Identifier: Apache-2.0
#include "KeyChecks.h"
#include "KeyEnds.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace halftone::tools {
namespace {

/// The only text that a pattern without special characters matches, after unescaping as re.escape() would write it.
std::optional<std::string> onlyText(std::string_view pattern) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool escaped = pattern[i] == '\\' && i + 1 < pattern.size();
    if (escaped)
      ++i;
    const bool isSpecial = specialCharacters.find(pattern[i]) != specialCharacters.npos;
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

/// The edit distance between two texts, computed column by column.
size_t distanceOfLong(std::string_view a, std::string_view b) {
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

/// Edit distances to a text of at most 64 bytes, with bit-parallel columns (Myers 1999, in Hyyrö's formulation).
class Distances {
public:
  explicit Distances(std::string_view text) : text(text) {
    for (size_t i = 0; i < text.size() && isShort(); ++i)
      positions[static_cast<unsigned char>(text[i])] |= uint64_t(1) << i;
  }
  size_t to(std::string_view other) const {
    if (text.empty() || !isShort())
      return distanceOfLong(text, other);
    uint64_t up = ~uint64_t(0), down = 0; // rows of a column where the distance increases or decreases by one
    const uint64_t lowest = uint64_t(1) << (text.size() - 1);
    size_t distance = text.size();
    for (char c : other) {
      const uint64_t equal = positions[static_cast<unsigned char>(c)], same = (((equal & up) + up) ^ up) | equal | down;
      uint64_t grows = down | ~(same | up), shrinks = up & same;
      distance += (grows & lowest) != 0;
      distance -= (shrinks & lowest) != 0;
      grows = grows << 1 | 1;
      shrinks <<= 1;
      up = shrinks | ~(same | grows);
      down = grows & same;
    }
    return distance;
  }

private:
  bool isShort() const { return text.size() <= 64; }

  std::string_view text;
  std::array<uint64_t, 256> positions{};
};

std::string nearest(const std::string &key, const RecordedModel &model) {
  if (model.layers.empty())
    return "the model has none";
  const Distances distances(key);
  const RecordedLayer *best = nullptr;
  size_t least = std::numeric_limits<size_t>::max();
  for (const RecordedLayer &layer : model.layers) {
    const size_t longer = std::max(key.size(), layer.path.size()), shorter = std::min(key.size(), layer.path.size());
    if (longer - shorter >= least)
      continue;
    if (const size_t distance = distances.to(layer.path); distance < least) {
      least = distance;
      best = &layer;
    }
  }
  return fmt::format("the nearest path is '{}'", best->path);
}

std::optional<Finding> unreachable(const MapEntry &entry, const MapFile &map) {
  const std::optional<std::string> text = onlyText(entry.key);
  if (!text)
    return std::nullopt;
  if (!canBePath(*text))
    return Finding{false, "P005",
                   fmt::format("'{}' cannot match any path: names are joined by single slashes", entry.key)};
  if (!entry.isLiteral && map.find(*text))
    return Finding{false, "P005",
                   fmt::format("'{}' is never used: it matches only '{}', which is itself a key", entry.key, *text)};
  return std::nullopt;
}

/// Returns true if an entry matches a substring of a path.
bool occursIn(const MapEntry &entry, const std::optional<Ends> &ends, const std::string &path) {
  if (entry.isLiteral)
    return path.find(entry.key) != path.npos;
  if (ends && (path.find(ends->prefix) == path.npos || path.find(ends->suffix) == path.npos))
    return false;
  return entry.pattern->occursIn(path);
}

/// Describes why a key decides for no path of the model. `shadowed` holds the paths that it matches, all of which are
/// keys themselves. `hint`: whether to name the nearest path.
Finding missing(const MapEntry &entry, const PathGroups &shadowed, const RecordedModel &model, bool hint) {
  for (const auto &[paths, what] : shadowed.list())
    return {false, "P005",
            fmt::format("'{}' is never used: everything that it matches has its own key ({})", entry.key, paths)};
  PathGroups parts;
  const std::optional<Ends> ends = endsOf(entry.key);
  for (const RecordedLayer &layer : model.layers)
    if (occursIn(entry, ends, layer.path))
      parts.add("", layer.path);
  for (const auto &[paths, what] : parts.list())
    return {false, "P004",
            fmt::format("'{}' matches only a part of {}: a key must match the whole path", entry.key, paths)};
  return {false, "P001",
          fmt::format("'{}' matches no layer{}", entry.key, hint ? "; " + nearest(entry.key, model) : std::string())};
}

} // namespace

std::vector<Finding> checkKeys(const MapFile &map) {
  std::vector<Finding> findings;
  std::vector<std::optional<Ends>> ranges;
  EndsIndex index;
  for (const MapEntry &entry : map.entries) {
    ranges.push_back(entry.pattern ? wholeRange(entry.key) : std::nullopt);
    if (ranges.back())
      index.add(*ranges.back(), ranges.size() - 1);
  }
  for (size_t i = 0; i < map.entries.size(); ++i) {
    const MapEntry &entry = map.entries[i];
    const std::optional<Ends> narrow = entry.pattern ? endsOf(entry.key) : std::nullopt;
    if (!narrow)
      continue;
    for (size_t j : index.within(narrow->prefix, narrow->suffix)) {
      const bool same = ranges[i] && ranges[i]->prefix == ranges[j]->prefix && ranges[i]->suffix == ranges[j]->suffix;
      if (i == j || (same && i > j)) // reported by the finding on the other pair
        continue;
      findings.push_back(
          {true, "P002",
           fmt::format("every path that '{}' matches is also matched by '{}'", entry.key, map.entries[j].key)});
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
  std::unordered_set<const MapEntry *> deciding;
  std::unordered_map<const MapEntry *, PathGroups> shadowed;
  for (const RecordedLayer &layer : model.layers) {
    const std::vector<const MapEntry *> found = map.patternsMatching(layer.path);
    if (const MapEntry *exact = map.find(layer.path)) {
      deciding.insert(exact);
      for (const MapEntry *entry : found)
        shadowed[entry].add("", layer.path);
      continue;
    }
    deciding.insert(found.begin(), found.end());
    std::string keys;
    for (size_t i = 0; i < found.size(); ++i)
      keys += fmt::format("{}'{}'", i == 0 ? "" : i + 1 < found.size() ? ", " : " and ", found[i]->key);
    if (found.size() > 1)
      ambiguous.add(keys, layer.path);
  }
  for (const auto &[paths, keys] : ambiguous.list())
    findings.push_back({true, "P002", fmt::format("{} matches {}", paths, keys)});
  // Each hint compares a key with every path, so keys beyond this number of comparisons get no hint.
  constexpr size_t maxComparisons = 20'000'000;
  size_t hints = maxComparisons / std::max<size_t>(model.layers.size(), 1);
  for (const MapEntry &entry : map.entries)
    if (std::optional<Finding> finding = unreachable(entry, map))
      findings.push_back(std::move(*finding));
    else if (entry.pattern && !deciding.contains(&entry)) {
      findings.push_back(missing(entry, shadowed[&entry], model, hints > 0));
      hints -= hints > 0;
    }
  return findings;
}

} // namespace halftone::tools
