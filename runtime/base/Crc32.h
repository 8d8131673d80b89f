// The CRC-32 checksum of zip archives, plan files and checkpoints.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace halftone {

/// The CRC-32 of zip and zlib. `before` is the CRC-32 of the preceding bytes.
uint32_t crc32Of(std::span<const std::byte> bytes, uint32_t before = 0);

} // namespace halftone
