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

/// Syntax that Python refuses and PCRE2 would accept is refused, in Python's words and with the position in characters.
/// Syntax that both accept and read differently is rewritten. Syntax that neither accepts may be left for PCRE2 to
/// refuse. Errors are value_error; also for \N{...} and for (?a:...), (?u:...) on a part of the pattern, which are not
/// supported.
TranslatedRegex translatePythonRegex(std::string_view pattern);

} // namespace halftone
