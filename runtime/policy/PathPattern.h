// A regular expression that is matched against whole layer paths.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace halftone {

/// A compiled pattern. Copies share it. Safe to use from several threads.
class PathPattern {
public:
  /// Compiles a pattern in Python's grammar. value_error with the pattern and the position in it if it is not a regular
  /// expression.
  explicit PathPattern(std::string_view pattern);
  /// Python's re.fullmatch. A path that is not UTF-8 matches nothing. value_error if the match takes too many steps.
  bool matches(std::string_view path) const;
  /// Python's re.search: returns true if the pattern matches some part of the path. Errors as of matches().
  bool occursIn(std::string_view path) const;
  /// Returns true if every character of the text matches itself in a regular expression.
  static bool isLiteral(std::string_view pattern);

private:
  struct Code;
  bool run(std::string_view path, uint32_t options) const;
  std::shared_ptr<const Code> code;
};

} // namespace halftone
