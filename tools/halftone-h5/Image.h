// An HDF5 file that lies in a part of another file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hdf5.h>

namespace halftone::h5 {

/// Maps the part of the library's file (fileDescriptor) that begins at `offset` and has `bytes` bytes, given in decimal digits.
/// libhdf5 takes it for the image of a file in memory and copies nothing.
class Image {
public:
  Image(const char *offset, const char *bytes);
  ~Image();
  Image(const Image &) = delete;
  /// 0 if the system maps no such part.
  size_t mappedBytes() const { return mappedBytes_; }
  /// The file, only to read; the caller closes it while the image lives. Negative if it is no HDF5 file.
  hid_t open() const;

private:
  void *mapping_ = nullptr; // from the beginning of a page
  size_t mappedBytes_ = 0, bytes_ = 0;
};

} // namespace halftone::h5
