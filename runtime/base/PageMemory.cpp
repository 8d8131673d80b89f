// Asks the system for pages.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/PageMemory.h"
#include "runtime/base/FreeMemory.h"
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace halftone {

void *allocatePages(size_t bytes) {
  constexpr size_t page = size_t(1) << 12, hugePage = size_t(1) << 21;
  if (!fitsMemory(static_cast<int64_t>(bytes))) // the system may promise it, and end the process when it is written
    return nullptr;
  void *memory = nullptr; // std::aligned_alloc takes only multiples of the alignment
  if (::posix_memalign(&memory, bytes >= leastHugeBlock ? hugePage : page, bytes) != 0)
    return nullptr;
  if (bytes >= leastHugeBlock)
    (void)::madvise(memory, bytes / hugePage * hugePage, MADV_HUGEPAGE); // where the system has them
  return memory;
}

} // namespace halftone
