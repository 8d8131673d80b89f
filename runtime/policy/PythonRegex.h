// Translates regular expressions from Python's grammar to PCRE2's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace halftone {

struct TranslatedRegex {
  std::string pattern;
  bool ascii = false; // (?a): \w, \d, \s and \b match ASCII only
};

/// Refuses syntax that Python refuses and PCRE2 would accept, with Python's message and the position in characters.
/// Rewrites syntax that both accept with different meanings. May pass syntax that both refuse on to PCRE2. Errors are
/// value_error, also for \N{...} and for (?a:...), (?u:...) on a part of the pattern, which are not supported.
TranslatedRegex translatePythonRegex(std::string_view pattern);

} // namespace halftone
