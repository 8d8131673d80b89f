// Limits on files. Readers refuse a file beyond a limit, and writers do not write one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace halftone::detail {

/// Nesting depth of JSON objects and lists. Deeper nesting is refused, so that recursion over a value cannot exhaust
/// the stack.
inline constexpr int maxJsonLevels = 200;
/// Bytes of config.json and of a vocabulary in a .keras archive, and of a JSON file.
inline constexpr int64_t maxJsonBytes = 32 << 20;

/// Bytes of a saved plan, and of a module in textual or bytecode form.
inline constexpr int64_t maxPlanBytes = int64_t{2} << 30, maxModuleBytes = int64_t{1} << 30;

/// Bytes of an entry of a cache folder, and of a kernel pack and its index.
inline constexpr int64_t maxCacheEntryBytes = 256 << 20;
inline constexpr int64_t maxKernelPackBytes = int64_t{1} << 30, maxKernelIndexBytes = 64 << 20;

/// Bytes of a member of a text archive; IMDB's have 17 MB.
inline constexpr int64_t maxTextBytes = int64_t{512} << 20;

/// Bytes of a file in CIFAR's binary format; the files have 31 MB and 154 MB.
inline constexpr int64_t maxCifarBytes = int64_t{2} << 30;

/// Limits of a safetensors file: bytes of the header, number of tensors, number of metadata strings, and rank of a
/// tensor.
inline constexpr int64_t maxHeaderBytes = 100 << 20;
inline constexpr size_t maxTensors = 1 << 18, maxTexts = 1 << 20, maxAxes = 64;

/// Rows in the table of an HDF5 file, one per group and dataset, and the bytes of the table.
inline constexpr size_t maxTableRows = 1 << 20, maxTableBytes = size_t{256} << 20;

} // namespace halftone::detail
