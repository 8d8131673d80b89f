// Zip archives whose members stand as they are, without compression, as Keras writes them.
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
  std::vector<std::string_view> pieces; // its bytes, one after another
};
/// Writes a zip with these members, by replaceFile(), each at a multiple of 64 bytes. io_error if the system refuses. Sizes
/// and offsets of `most` bytes and more have the form of zip64.
Status writeStoredZip(const std::string &path, const std::vector<ZipMember> &members, uint64_t most = 0xffffffff);

} // namespace halftone::detail
