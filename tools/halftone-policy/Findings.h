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

/// Findings about several paths: collects the paths of each text; the first path stands for all of them.
class PathGroups {
public:
  void add(const std::string &what, const std::string &path);
  /// `'net/a'` or `'net/a' and 3 more`, each with its text, in the order of the first paths.
  std::vector<std::pair<std::string, std::string>> list() const;

private:
  struct Group {
    std::string what, first;
    std::unordered_set<std::string> paths;
  };
  std::vector<Group> groups;
  std::unordered_map<std::string, size_t> places; // of groups
};

} // namespace halftone::tools
