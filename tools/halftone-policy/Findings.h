// The findings of lint.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace halftone::tools {

struct Finding {
  bool isError;
  const char *code;
  std::string message;
};

/// Groups findings with the same text over several paths; the first path represents the group.
class PathGroups {
public:
  void add(const std::string &what, const std::string &path);
  /// `'net/a'` or `'net/a' and 3 more`, each with its text, ordered by first path.
  std::vector<std::pair<std::string, std::string>> list() const;

private:
  struct Group {
    std::string what, first;
    std::unordered_set<std::string> paths;
  };
  std::vector<Group> groups;
  std::unordered_map<std::string, size_t> indices; // indices into `groups`
};

} // namespace halftone::tools
