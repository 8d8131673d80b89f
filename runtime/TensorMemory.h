// Memory of host tensors: large blocks are kept for the next tensor of their size.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>

namespace halftone {

/// Blocks of at least this many bytes are kept when their tensor goes. A fresh one costs a page fault each 4 KiB, which
/// can take longer than the product that fills it.
inline constexpr size_t leastKeptBlock = size_t(1) << 16;
/// How much is kept in all; beyond it the blocks that were kept first are given back.
inline constexpr size_t mostKeptBytes = size_t(1) << 27;

/// At least `bytes` bytes, aligned to 64, contents undefined; null when there is no memory. Any thread may ask for one
/// and let it go.
std::shared_ptr<void> allocateTensorMemory(size_t bytes);

/// What is kept now.
size_t keptTensorBytes();

} // namespace halftone
