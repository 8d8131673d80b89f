// Calls version 2 of the TurboJPEG API, which every release of libturbojpeg.so.0 has.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/JpegCodec.h"
#include "frontend/base/RefuseFile.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <string_view>

namespace halftone::detail {

namespace {

/// Declarations of turbojpeg.h.
struct TurboJpeg {
  enum PixelFormat : int { rgb = 0, gray = 6 };
  enum Colorspace : int { spaceRgb = 0, spaceYcc = 1, spaceGray = 2 };
  enum Subsampling : int { half = 2, none = 3 }; // 4:2:0, gray
  static constexpr int limitScans = 32768;       // flag: an error for more than 500 scans, which take very long
  using Handle = void *;
  Handle (*initDecompress)();
  Handle (*initCompress)();
  int (*destroy)(Handle);
  int (*header)(Handle, const unsigned char *, unsigned long, int *, int *, int *, int *);
  int (*decompress)(Handle, const unsigned char *, unsigned long, unsigned char *, int, int, int, int, int);
  int (*compress)(Handle, const unsigned char *, int, int, int, int, unsigned char **, unsigned long *, int, int, int);
  void (*free)(unsigned char *);
  char *(*errorText)(Handle);
};

const TurboJpeg &turboJpeg(const std::string &path) {
  static std::mutex mutex;
  static TurboJpeg calls;
  static bool isOpen = false;
  const ForkSafeLock lock(mutex);
  if (isOpen)
    return calls;
  const CodecLibrary library("libturbojpeg.so.0", "libturbojpeg0", path);
  library.find(calls.initDecompress, "tjInitDecompress");
  library.find(calls.initCompress, "tjInitCompress");
  library.find(calls.destroy, "tjDestroy");
  library.find(calls.header, "tjDecompressHeader3");
  library.find(calls.decompress, "tjDecompress2");
  library.find(calls.compress, "tjCompress2");
  library.find(calls.free, "tjFree");
  library.find(calls.errorText, "tjGetErrorStr2");
  isOpen = true;
  return calls;
}

/// A decoder or an encoder.
class Codec {
public:
  Codec(const TurboJpeg &calls, TurboJpeg::Handle handle, const std::string &path) : calls_(calls), handle_(handle) {
    if (!handle)
      throw Error(ErrorKind::io_error, fmt::format("'{}': out of memory for its decoder", path));
  }
  Codec(const Codec &) = delete;
  ~Codec() { calls_.destroy(handle_); }
  TurboJpeg::Handle get() const { return handle_; }
  std::string errorText() const { return calls_.errorText(handle_); }

private:
  const TurboJpeg &calls_;
  TurboJpeg::Handle handle_;
};

} // namespace

Pixels decodedJpeg(const std::string &bytes, const std::string &path) {
  const TurboJpeg &calls = turboJpeg(path);
  const Codec decoder(calls, calls.initDecompress(), path);
  const auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
  int width = 0, height = 0, subsampling = 0, space = 0;
  if (calls.header(decoder.get(), data, bytes.size(), &width, &height, &subsampling, &space) != 0)
    refuseFile(path, "a JPEG file", decoder.errorText());
  if (space != TurboJpeg::spaceRgb && space != TurboJpeg::spaceYcc && space != TurboJpeg::spaceGray)
    refuseFile(path, "a JPEG file in grayscale or RGB", "CMYK or YCCK");
  requirePixels(path, static_cast<uint64_t>(std::max(height, 0)), static_cast<uint64_t>(std::max(width, 0)));
  const bool isGray = space == TurboJpeg::spaceGray;
  Pixels pixels{height, width, isGray ? 1 : 3, {}};
  pixels.bytes.resize(static_cast<size_t>(height) * pixels.rowBytes());
  // As in Pillow and TensorFlow, warnings of the library are not errors, unless data is missing.
  if (calls.decompress(decoder.get(), data, bytes.size(), pixels.bytes.data(), width, 0, height,
                       isGray ? TurboJpeg::gray : TurboJpeg::rgb, TurboJpeg::limitScans) != 0) {
    const std::string text = decoder.errorText();
    const bool isWarning = text.starts_with("Corrupt JPEG data") || text.starts_with("Invalid SOS parameters");
    if (!isWarning || text.find("premature end") != text.npos)
      refuseFile(path, "a complete JPEG file", text);
  }
  return pixels;
}

std::string encodedJpeg(const Pixels &pixels, const std::string &path) {
  const TurboJpeg &calls = turboJpeg(path);
  const Codec encoder(calls, calls.initCompress(), path);
  const bool isGray = pixels.channels == 1;
  std::vector<uint8_t> opaque;
  if (pixels.channels == 4)
    for (size_t i = 0; i < pixels.bytes.size(); ++i)
      if (i % 4 != 3)
        opaque.push_back(pixels.bytes[i]);
  const uint8_t *const source = pixels.channels == 4 ? opaque.data() : pixels.bytes.data();
  unsigned char *written = nullptr;
  unsigned long size = 0;
  const int failed = calls.compress(encoder.get(), source, static_cast<int>(pixels.width), 0,
                                    static_cast<int>(pixels.height), isGray ? TurboJpeg::gray : TurboJpeg::rgb,
                                    &written, &size, isGray ? TurboJpeg::none : TurboJpeg::half, /*quality=*/75, 0);
  std::string bytes(reinterpret_cast<const char *>(written), failed ? 0 : size);
  calls.free(written);
  if (failed)
    throw Error(ErrorKind::io_error, fmt::format("Cannot write '{}': {}", path, encoder.errorText()));
  return bytes;
}

} // namespace halftone::detail
