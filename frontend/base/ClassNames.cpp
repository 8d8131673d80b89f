// The edit distance of names, and the text of an error about an unknown class.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ClassNames.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <utility>

namespace halftone::detail {

namespace {

/// The Levenshtein distance of the names: the number of insertions, deletions and substitutions.
size_t difference(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1); // distances from a prefix of `a` to all prefixes of `b`
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

} // namespace

std::string knownClasses(const std::vector<std::string_view> &names, std::string_view className,
                         std::string_view what) {
  constexpr size_t longestName = 64, mostDifferent = 3;
  std::string text;
  const auto differenceTo = [&](std::string_view name) { return difference(className, name); };
  if (!names.empty() && className.size() <= longestName)
    if (const auto nearest = std::ranges::min_element(names, {}, differenceTo);
        differenceTo(*nearest) <= std::min(mostDifferent, className.size() / 2))
      text = fmt::format("Did you mean '{}'? ", *nearest);
  return text + fmt::format("The {} are: {}", what, fmt::join(names, ", "));
}

} // namespace halftone::detail
