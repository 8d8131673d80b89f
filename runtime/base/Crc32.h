// The checksum CRC-32 of zip archives, plan files and checkpoints.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace halftone {

/// The CRC-32 of zips and zlib, of bytes that come after others, whose CRC-32 is `before`.
uint32_t crc32Of(std::span<const std::byte> bytes, uint32_t before = 0);

} // namespace halftone
