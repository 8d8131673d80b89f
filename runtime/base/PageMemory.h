// Blocks of memory in whole pages, in huge ones where the system has them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace halftone {

/// From this size in bytes on a block lies in huge pages: their first use costs fewer faults, and later reads fewer
/// lookups of addresses.
inline constexpr size_t leastHugeBlock = size_t(1) << 22;

/// A block of `bytes` bytes, aligned to a page, with undefined contents; null when so much memory is not free. std::free()
/// frees it.
void *allocatePages(size_t bytes);

} // namespace halftone
