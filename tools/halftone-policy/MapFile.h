// Reads a policy map file together with all of its mistakes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Findings.h"
#include "KeyEnds.h"
#include "halftone/Policy.h"
#include "runtime/policy/PathPattern.h"
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::tools {

struct MapEntry {
  std::string key;
  bool isLiteral;                     // matches only its own text
  std::optional<PathPattern> pattern; // nullopt if the key is not a regular expression
  std::optional<DTypePolicy> policy;  // nullopt if the value is not a policy
};

/// The entries and findings of a file. Lookups use an index, so that they stay fast with many keys.
struct MapFile {
  std::vector<MapEntry> entries;
  std::optional<DTypePolicy> fallback;
  std::vector<Finding> findings; // P003, P006, P007, P012, P013, P015

  void add(MapEntry entry);
  /// The entry with this key, or null.
  const MapEntry *find(const std::string &key) const;
  /// The entries that may decide for a path: only the exact key if there is one, otherwise every matching pattern.
  std::vector<const MapEntry *> matching(const std::string &path) const;
  /// Every pattern that matches a path, even if the path itself is a key, in file order.
  std::vector<const MapEntry *> patternsMatching(const std::string &path) const;

private:
  std::unordered_map<std::string, size_t> indices; // entry indices by key
  EndsIndex patterns;
  std::vector<size_t> otherPatterns; // patterns whose ends are unknown
};

/// io_error for a file that cannot be read; value_error if it is not a map, not even one with mistakes.
MapFile readMapFile(const std::string &path);

} // namespace halftone::tools
