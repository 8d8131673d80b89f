// Detects the image format and loads the codec libraries.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/ImageCodecs.h"
#include "frontend/base/RefuseFile.h"
#include "frontend/data/JpegCodec.h"
#include "frontend/data/PngCodec.h"
#include "runtime/base/OpenFile.h"
#include <dlfcn.h>
#include <fmt/format.h>

namespace halftone::detail {

CodecLibrary::CodecLibrary(const char *file, const char *package, const std::string &path) : file_(file), path_(path) {
  const StatusOr<void *> opened = openLibrary(file, RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    throw Error(ErrorKind::io_error, fmt::format("'{}' needs the library {}, which Debian's package {} installs: {}",
                                                 path, file, package, opened.status().message()));
  handle_ = *opened;
}
void *CodecLibrary::address(const char *name) const {
  void *const found = ::dlsym(handle_, name);
  if (!found)
    throw Error(ErrorKind::io_error, fmt::format("'{}' needs the library {}, which lacks {}", path_, file_, name));
  return found;
}

void requirePixels(const std::string &path, uint64_t height, uint64_t width) {
  constexpr uint64_t most = 178956970; // Pillow's limit: twice the pixels of 1/4 GB with three channels
  if (height == 0 || width == 0 || height > most / width)
    refuseFile(path, fmt::format("1 to {} pixels", most), fmt::format("{} x {}", width, height));
}

Pixels decodedImage(const std::string &bytes, const std::string &path) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"))
    return decodedPng(bytes, path);
  if (bytes.starts_with("\xff\xd8\xff"))
    return decodedJpeg(bytes, path);
  refuseFile(path, "a PNG or JPEG file", bytes.empty() ? "an empty file" : "other leading bytes");
}

} // namespace halftone::detail
