// Reads a file of policies by path, with all its mistakes.
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
  bool isLiteral;                     // it matches its own text only
  std::optional<PathPattern> pattern; // nullopt if the key is no regular expression
  std::optional<DTypePolicy> policy;  // nullopt if the value is no policy
};

/// The entries and the findings of a file. An index finds entries, so that many keys cost no needless time.
struct MapFile {
  std::vector<MapEntry> entries;
  std::optional<DTypePolicy> fallback;
  std::vector<Finding> findings; // P003, P006, P007, P012, P013, P015

  void add(MapEntry entry);
  /// The entry with this key, or null.
  const MapEntry *find(const std::string &key) const;
  /// The entries that may decide for a path: the exact key alone, or every pattern that matches the path.
  std::vector<const MapEntry *> matching(const std::string &path) const;
  /// Every pattern that matches a path, also if the path itself is a key; in the order of the file.
  std::vector<const MapEntry *> patternsMatching(const std::string &path) const;

private:
  std::unordered_map<std::string, size_t> places; // of keys
  EndsIndex patterns;
  std::vector<size_t> otherPatterns; // patterns whose ends are not known
};

/// io_error for a file that cannot be read; value_error if it holds no map, not even one with mistakes.
MapFile readMapFile(const std::string &path);

} // namespace halftone::tools
