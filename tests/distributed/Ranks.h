// Output and checks of programs that several processes run together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Halftone.h"
#include <fmt/format.h>
#include <string>
#include <unistd.h>

namespace halftone::test {

/// Prints a line that begins with the rank, in one write, so that lines of several processes do not mix. Newlines in
/// `text` become spaces.
inline void say(const std::string &text) {
  std::string line = fmt::format("{}: {}\n", distribution::rank(), text);
  for (size_t at = line.find('\n'); at + 1 < line.size(); at = line.find('\n', at + 1))
    line[at] = ' ';
  (void)!::write(STDOUT_FILENO, line.data(), line.size());
}

/// Throws internal_error with `text` unless `condition` holds.
inline void require(bool condition, const std::string &text) {
  if (!condition)
    throw Error(ErrorKind::internal_error, text);
}

/// Distributes the following calls over all processes, or makes them calls of this process alone.
inline void distribute(bool isTogether, const distribution::DataParallelArgs &args = {.check_weights_every = 1}) {
  if (isTogether)
    distribution::set_distribution(distribution::DataParallel(args));
  else
    distribution::set_distribution(std::nullopt);
}

} // namespace halftone::test
