// Memory of host tensors: large blocks are kept for the next tensor of their size.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>

namespace halftone {

/// Blocks of at least this many bytes are kept when their tensor goes. A fresh block costs a page fault each 4 KiB;
/// that can take longer than the matrix product that fills it.
inline constexpr size_t leastKeptBlock = size_t(1) << 16;
/// The most bytes that are kept in all. Beyond it, the blocks that were kept first are given back.
inline constexpr size_t mostKeptBytes = size_t(1) << 27;

/// At least `bytes` bytes, aligned to 64, contents undefined; null when there is no memory. Any thread may ask for one
/// and let it go.
std::shared_ptr<void> allocateTensorMemory(size_t bytes);

/// Bytes that are kept now.
size_t keptTensorBytes();

} // namespace halftone
