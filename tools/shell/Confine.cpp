// Sets the limits under which a child program reads a file.
// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/Confine.h"
#include <algorithm>
#include <sys/resource.h>
#include <unistd.h>

namespace halftone::tools {

/// Lowers a limit to `most`; a lower limit is kept.
static bool limit(__rlimit_resource what, rlim_t most) {
  rlimit present{};
  if (getrlimit(what, &present) != 0)
    return false;
  const rlimit lower{std::min(present.rlim_cur, most), std::min(present.rlim_max, most)};
  return setrlimit(what, &lower) == 0;
}

bool confine(size_t mappedBytes, int openFiles) {
  if (close_range(fileDescriptor + 1, ~0u, 0) != 0)
    return false;
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  constexpr bool reservesMemory = true; // the shadow memory far exceeds the limit
#else
  constexpr bool reservesMemory = false;
#endif
#else
  constexpr bool reservesMemory = false;
#endif
  return (reservesMemory || limit(RLIMIT_AS, (rlim_t{1} << 30) + mappedBytes)) && limit(RLIMIT_CPU, 20) &&
         limit(RLIMIT_NOFILE, static_cast<rlim_t>(fileDescriptor + 1 + openFiles)) && limit(RLIMIT_CORE, 0);
}

} // namespace halftone::tools
