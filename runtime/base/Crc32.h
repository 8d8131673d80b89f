// The checksum CRC-32 of zip archives, plan files and checkpoints.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace halftone {

/// zlib's crc32(): the CRC-32 of bytes that come after others, whose CRC-32 is `before`. With carry-less products (PCLMULQDQ)
/// of the CPU it runs at the speed of reading memory.
uint32_t crc32Of(std::span<const std::byte> bytes, uint32_t before = 0);

} // namespace halftone
