// Memory of host tensors: large blocks are cached for the next tensor of the same size, rounded up to pages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>

namespace halftone {

/// Blocks of at least this many bytes, and at most maxKeptBytes, are cached when their tensor is destroyed. A fresh
/// block costs one page fault per 4 KiB, which together can take longer than the matrix product that fills the block.
inline constexpr size_t minKeptBlock = size_t(1) << 16;
/// Limit on the total cached bytes. Beyond it the oldest cached blocks are freed.
inline constexpr size_t maxKeptBytes = size_t(1) << 27;

/// Allocates at least `bytes` bytes, aligned to 64, with undefined contents; null if out of memory. Any thread may
/// allocate and free.
std::shared_ptr<void> allocateTensorMemory(size_t bytes);

/// The number of bytes cached now.
size_t keptTensorBytes();

} // namespace halftone
