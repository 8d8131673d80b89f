// The CRC-32 checksum.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Crc32.h"
#include <libdeflate.h>

namespace halftone {

uint32_t crc32Of(std::span<const std::byte> bytes, uint32_t before) {
  if (bytes.empty()) // for a null pointer libdeflate restarts
    return before;
  return ::libdeflate_crc32(before, bytes.data(), bytes.size());
}

} // namespace halftone
