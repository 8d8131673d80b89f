// Looks up strings of a closed set that are known only at run time.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Choice.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace halftone::detail {

size_t index_of_word(std::string_view word, const char *const *words, size_t count, Where call) {
  const std::span<const char *const> all(words, count);
  const auto found = std::ranges::find(all, word, [](const char *known) { return std::string_view(known); });
  if (found == all.end())
    throw Error(ErrorKind::value_error,
                fmt::format("expected one of \"{}\"; got \"{}\"", fmt::join(all, "\", \""), word), "", call);
  return static_cast<size_t>(found - all.begin());
}

} // namespace halftone::detail
