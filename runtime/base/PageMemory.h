// Page-granular memory blocks, in huge pages where the system has them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace halftone {

/// Minimum size in bytes of a block in huge pages, which reduce page faults at first use and TLB misses afterwards.
inline constexpr size_t minHugeBlock = size_t(1) << 22;

/// A page-aligned block of `bytes` bytes with undefined contents; null if that much memory is not free. Free it with
/// std::free().
void *allocatePages(size_t bytes);

} // namespace halftone
