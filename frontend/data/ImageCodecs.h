// Pixels of PNG and JPEG files, which libraries decode that are opened when a file first needs them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace halftone::detail {

/// Rows from the top, pixels from the left, channels side by side: gray, red green blue, or those and opacity.
struct Pixels {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> bytes{};
  size_t rowBytes() const { return static_cast<size_t>(width * channels); }
};

/// The pixels in the bytes of a file, as Pillow's: of a JPEG one or three channels, of a PNG three or four, or one if all pixels
/// are gray without opacity. Chunks of PNG about colour spaces are ignored. `path` is the file's name in errors. io_error for
/// other contents, for more than 178956970 pixels, and if the library is missing.
Pixels decodedImage(const std::string &bytes, const std::string &path);

/// io_error for an image without pixels, or with more than Pillow takes.
void requirePixels(const std::string &path, uint64_t height, uint64_t width);

/// The bytes of a PNG file.
std::string encodedPng(const Pixels &pixels);
/// Those of a JPEG file, without opacity. io_error if the library is missing, or refuses.
std::string encodedJpeg(const Pixels &pixels, const std::string &path);

/// A codec's library, which stays open. io_error that names `path`, the library and Debian's package of it, or the function that it
/// lacks.
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
