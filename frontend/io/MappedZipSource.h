// A libzip source over a mapped file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <zip.h>

namespace halftone::detail {

/// The source from which libzip reads. It records the position of the last read, since libzip does not expose where a
/// member's data begins.
class MappedZipSource {
public:
  /// The bytes must outlive the object, and the object any archive opened on it.
  explicit MappedZipSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  MappedZipSource(const MappedZipSource &) = delete;
  /// A source for zip_open_from_source(); null, with the reason in `error`, if libzip is out of memory.
  zip_source_t *make(zip_error_t *error);
  /// The offset of libzip's last read.
  size_t lastRead() const { return lastRead_; }

private:
  /// Handles libzip's `command` with the `size` bytes at `data`; returns -1 on failure.
  int64_t answer(int command, void *data, uint64_t size);
  int64_t read(void *to, uint64_t size);

  std::span<const std::byte> bytes_;
  size_t position_ = 0, lastRead_ = 0;
};

} // namespace halftone::detail
