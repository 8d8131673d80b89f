// Warns about arguments whose values create too many programs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/StaticArguments.h"
#include "frontend/base/ProgressBar.h"
#include "runtime/base/ForkGate.h"
#include <fmt/format.h>

namespace halftone::detail {

void StaticArguments::note(const std::vector<int64_t> &numbers, const std::string &name) {
  constexpr size_t most = 32;
  std::vector<size_t> varying;
  {
    const ForkSafeLock lock(mutex_);
    values_.resize(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i)
      if (values_[i].size() <= most && values_[i].insert(numbers[i]).second && values_[i].size() > most)
        varying.push_back(i);
  }
  for (const size_t i : varying)
    writeOutput(fmt::format(
        "warning: argument {} of '{}', counted from 0, has had more than {} values, and each has its own program: if "
        "nothing branches on it, take a const Value & and pass the number, which avoids recompilation\n",
        i, name, most));
}

} // namespace halftone::detail
