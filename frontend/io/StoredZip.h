// Zip archives with uncompressed members, as Keras writes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

struct ZipMember {
  std::string name;
  std::vector<std::string_view> chunks; // its bytes, in order
};
/// Writes a zip with these members by replaceFile(), each aligned to 64 bytes. io_error if a system call fails. Sizes
/// and offsets of at least `most` bytes use zip64.
Status writeStoredZip(const std::string &path, const std::vector<ZipMember> &members, uint64_t most = 0xffffffff);

} // namespace halftone::detail
