// Collects paths with one finding.
// SPDX-License-Identifier: Apache-2.0
#include "Findings.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::tools {

void PathGroups::add(const std::string &what, const std::string &path) {
  const auto known = std::ranges::find(groups, what, [](const auto &group) { return group.first; });
  if (known == groups.end())
    groups.push_back({what, {path}});
  else if (std::ranges::find(known->second, path) == known->second.end())
    known->second.push_back(path);
}

std::vector<std::pair<std::string, std::string>> PathGroups::list() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto &[what, paths] : groups)
    result.emplace_back(paths.size() == 1 ? fmt::format("'{}'", paths[0])
                                          : fmt::format("'{}' and {} more", paths[0], paths.size() - 1),
                        what);
  return result;
}

} // namespace halftone::tools
