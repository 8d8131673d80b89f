// Allocates pages from the system.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/PageMemory.h"
#include "runtime/base/FreeMemory.h"
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace halftone {

void *allocatePages(size_t bytes) {
  constexpr size_t page = size_t(1) << 12, hugePage = size_t(1) << 21;
  if (!fitsMemory(static_cast<int64_t>(bytes))) // the system may overcommit, and kill the process at a write
    return nullptr;
  void *memory = nullptr; // std::aligned_alloc accepts only multiples of the alignment
  if (::posix_memalign(&memory, bytes >= minHugeBlock ? hugePage : page, bytes) != 0)
    return nullptr;
  if (bytes >= minHugeBlock)
    (void)::madvise(memory, bytes / hugePage * hugePage, MADV_HUGEPAGE); // where available
  return memory;
}

} // namespace halftone
