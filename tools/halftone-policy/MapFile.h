// A file of policies by path, with all its mistakes.
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
  bool isLiteral;                     // matches its own text only
  std::optional<PathPattern> pattern; // nullopt when the key is no regular expression
  std::optional<DTypePolicy> policy;  // nullopt when the value is no policy
};

/// Entries are looked up by index, so that a map of many keys takes no longer than it must.
struct MapFile {
  std::vector<MapEntry> entries;
  std::optional<DTypePolicy> fallback;
  std::vector<Finding> findings; // P003, P006, P007, P012, P013, P015

  void add(MapEntry entry);
  /// The entry with this key, or null.
  const MapEntry *find(const std::string &key) const;
  /// The entries that claim a path: the exact key alone, or every pattern that matches the path.
  std::vector<const MapEntry *> matching(const std::string &path) const;
  /// Every pattern that matches a path, whether or not the path is a key; in the order of the file.
  std::vector<const MapEntry *> patternsMatching(const std::string &path) const;

private:
  std::unordered_map<std::string, size_t> places; // of keys
  EndsIndex patterns;
  std::vector<size_t> otherPatterns; // whose ends are not known
};

/// io_error, or value_error when the file holds no map, even one with mistakes.
MapFile readMapFile(const std::string &path);

} // namespace halftone::tools
