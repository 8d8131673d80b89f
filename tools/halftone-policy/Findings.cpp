// Groups paths with the same finding.
// SPDX-License-Identifier: Apache-2.0
#include "Findings.h"
#include <fmt/format.h>

namespace halftone::tools {

void PathGroups::add(const std::string &what, const std::string &path) {
  const auto [entry, isNew] = indices.emplace(what, groups.size());
  if (isNew)
    groups.push_back({what, path, {}});
  groups[entry->second].paths.insert(path);
}

std::vector<std::pair<std::string, std::string>> PathGroups::list() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const Group &group : groups)
    result.emplace_back(group.paths.size() == 1 ? fmt::format("'{}'", group.first)
                                                : fmt::format("'{}' and {} more", group.first, group.paths.size() - 1),
                        group.what);
  return result;
}

} // namespace halftone::tools
