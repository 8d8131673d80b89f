// Regular expressions of Python's grammar, in PCRE2's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace halftone {

struct TranslatedRegex {
  std::string pattern;
  bool ascii = false; // (?a): \w, \d, \s and \b know ASCII only
};

/// Refuses, with Python's words and the position in characters, what Python refuses and PCRE2 would take; rewrites
/// what both take and read differently. What neither takes may be left for PCRE2 to refuse.
/// value_error; also for \N{...} and for (?a:...), (?u:...) on a part of the pattern, which are not supported.
TranslatedRegex translatePythonRegex(std::string_view pattern);

} // namespace halftone
