// The bytes of a mapped file, as libzip reads them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <zip.h>

namespace halftone::detail {

/// libzip asks it for bytes. It knows which it gave last: libzip does not tell where a member's data begin.
class MappedZipSource {
public:
  /// The bytes live as long as the object, and the object as long as an archive that is open on it.
  explicit MappedZipSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  MappedZipSource(const MappedZipSource &) = delete;
  /// A source for zip_open_from_source(); null, with the reason in `error`, if libzip has no memory.
  zip_source_t *make(zip_error_t *error);
  /// Where the last bytes lie that libzip has read.
  size_t lastRead() const { return lastRead_; }

private:
  /// Does libzip's `command` with the `size` bytes at `data`; -1 if it cannot.
  int64_t answer(int command, void *data, uint64_t size);
  int64_t read(void *to, uint64_t size);

  std::span<const std::byte> bytes_;
  size_t position_ = 0, lastRead_ = 0;
};

} // namespace halftone::detail
