// Decodes and encodes PNG and JPEG files with libraries that are loaded on first use.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace halftone::detail {

/// Rows from top to bottom, pixels from left to right, interleaved channels: gray, RGB or RGBA.
struct Pixels {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> bytes{};
  size_t rowBytes() const { return static_cast<size_t>(width * channels); }
};

/// Decodes the bytes of a file to the same pixels as Pillow: a JPEG has one or three channels; a PNG has three or four,
/// or one if all pixels are gray and opaque. Colour-space chunks of a PNG are ignored. Errors name the file `path`.
/// io_error for other contents, for more than 178956970 pixels, or if the library is missing.
Pixels decodedImage(const std::string &bytes, const std::string &path);

/// io_error for an image without pixels, or with more pixels than Pillow accepts.
void requirePixels(const std::string &path, uint64_t height, uint64_t width);

/// The bytes of a PNG file.
std::string encodedPng(const Pixels &pixels);
/// The bytes of a JPEG file; alpha is dropped. io_error if the library is missing or reports an error.
std::string encodedJpeg(const Pixels &pixels, const std::string &path);

/// The shared library of a codec, which is never unloaded. io_error naming `path`, the library and its Debian package,
/// or the missing function.
class CodecLibrary {
public:
  CodecLibrary(const char *file, const char *package, const std::string &path);
  template <class F> void find(F *&function, const char *name) const {
    function = reinterpret_cast<F *>(address(name));
  }

private:
  void *address(const char *name) const;
  const char *file_;
  const std::string &path_;
  void *handle_;
};

} // namespace halftone::detail
