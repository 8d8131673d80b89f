// Memory of host tensors: large blocks are kept for the next tensor of their size in bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>

namespace halftone {

/// A block of at least this many bytes is kept when its tensor is destroyed. A fresh block costs a page fault each 4
/// KiB, which together can take longer than the matrix product that fills the block.
inline constexpr size_t leastKeptBlock = size_t(1) << 16;
/// The most bytes that are kept in all. Beyond this limit the oldest kept blocks are freed.
inline constexpr size_t mostKeptBytes = size_t(1) << 27;

/// At least `bytes` bytes, aligned to 64, with undefined contents; null when there is no memory. Any thread may
/// allocate and free.
std::shared_ptr<void> allocateTensorMemory(size_t bytes);

/// How many bytes are kept now.
size_t keptTensorBytes();

} // namespace halftone
