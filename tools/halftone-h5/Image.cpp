// Passes a mapped range of a file to libhdf5's driver for in-memory files.
// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone-h5/Image.h"
#include "tools/halftone-h5/Types.h"
#include "tools/shell/Confine.h"
#include <cstdlib>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halftone::h5 {

using tools::fileDescriptor;

namespace {

// Callbacks of libhdf5 that allocate, copy and free an image. All of them refer to the mapping.
void *give(size_t, H5FD_file_image_op_t, void *image) { return image; }
void *keep(void *, const void *, size_t, H5FD_file_image_op_t, void *image) { return image; }
void *refuse(void *, size_t, H5FD_file_image_op_t, void *) { return nullptr; }
herr_t leave(void *, H5FD_file_image_op_t, void *) { return 0; }
void *share(void *image) { return image; }
herr_t leaveShared(void *) { return 0; }

/// Returns true if the file has this range. Reading past its end would raise a signal.
bool holds(size_t offset, size_t bytes) {
  struct stat facts{};
  return fstat(fileDescriptor, &facts) == 0 && facts.st_size >= 0 && offset <= static_cast<size_t>(facts.st_size) &&
         bytes <= static_cast<size_t>(facts.st_size) - offset;
}

} // namespace

Image::Image(const char *offset, const char *bytes) {
  const size_t begin = std::strtoull(offset, nullptr, 10), size = std::strtoull(bytes, nullptr, 10);
  const size_t past = begin % static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (size == 0 || !holds(begin, size))
    return;
  void *mapping = mmap(nullptr, past + size, PROT_READ, MAP_PRIVATE, fileDescriptor, static_cast<off_t>(begin - past));
  if (mapping == MAP_FAILED)
    return;
  mapping_ = mapping;
  mappedBytes_ = past + size;
  bytes_ = size;
}

Image::~Image() {
  if (mapping_)
    munmap(mapping_, mappedBytes_);
}

hid_t Image::open() const {
  if (!mapping_)
    return -1;
  void *image = static_cast<char *>(mapping_) + (mappedBytes_ - bytes_);
  H5FD_file_image_callbacks_t callbacks{give, keep, refuse, leave, share, leaveShared, image};
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  constexpr size_t growth = 1 << 16; // of a written file; this one is read-only
  if (access < 0 || H5Pset_fapl_core(access, growth, false) < 0 ||
      H5Pset_file_image_callbacks(access, &callbacks) < 0 || H5Pset_file_image(access, image, bytes_) < 0)
    return -1;
  return H5Fopen("image", H5F_ACC_RDONLY, access);
}

} // namespace halftone::h5
