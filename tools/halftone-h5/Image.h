// An HDF5 file embedded in a range of another file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hdf5.h>

namespace halftone::h5 {

/// Maps `bytes` bytes of the library's file (fileDescriptor) from `offset`, both given as decimal digits. libhdf5 uses
/// the mapping as an in-memory file image without copying it.
class Image {
public:
  Image(const char *offset, const char *bytes);
  ~Image();
  Image(const Image &) = delete;
  /// 0 if the range cannot be mapped.
  size_t mappedBytes() const { return mappedBytes_; }
  /// Opens the file read-only; the caller closes it before the image is destroyed. Negative if it is not an HDF5 file.
  hid_t open() const;

private:
  void *mapping_ = nullptr; // begins at a page boundary
  size_t mappedBytes_ = 0, bytes_ = 0;
};

} // namespace halftone::h5
