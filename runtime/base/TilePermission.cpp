// Requests AMX tile state from Linux.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/TilePermission.h"
#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace halftone {

bool mayUseTiles() {
#if defined(__linux__) && defined(__x86_64__)
  // <asm/prctl.h> lacks these constants on old systems.
  constexpr long requestPermission = 0x1023, tileData = 18;
  static const bool granted = ::syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
  return granted;
#else
  return false;
#endif
}

} // namespace halftone
