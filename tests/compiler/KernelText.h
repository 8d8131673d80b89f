// Kernel texts with values to substitute.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace halftone::testing {

/// `text` with a value in place of each `$name`.
inline std::string with(std::string text, const std::vector<std::pair<std::string, std::string>> &values) {
  for (const auto &[name, value] : values)
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  return text;
}
inline std::string with(const std::string &text, int64_t m, int64_t n, const std::string &type) {
  return with(text, {{"$M", std::to_string(m)}, {"$N", std::to_string(n)}, {"$T", type}});
}

/// Rows and columns of kernels: whole vectors, vectors with a remainder, and less than one vector.
inline const std::vector<std::pair<int64_t, int64_t>> shapes{{3, 67},   {8, 16},  {1, 5},  {70, 3},
                                                             {17, 130}, {5, 127}, {3, 333}};

} // namespace halftone::testing
