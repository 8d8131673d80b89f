// Reads PNG files with libpng's simplified API, and writes them with libdeflate.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/PngCodec.h"
#include "frontend/base/RefuseFile.h"
#include "runtime/base/Crc32.h"
#include "runtime/base/Deflate.h"
#include "runtime/base/ForkGate.h"
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

namespace halftone::detail {

namespace {

constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";

/// Version 1 of png_image in png.h.
struct PngImage {
  void *opaque = nullptr;
  uint32_t version = 1, width = 0, height = 0, format = 0, flags = 0, colormapEntries = 0, failed = 0;
  char message[64] = {};
};
constexpr uint32_t formatRgb = 2, formatRgba = 3, formatFlagAlpha = 1, flagSixteenBitsAreSrgb = 4;

struct Png {
  int (*begin)(PngImage *, const void *, size_t);
  int (*finish)(PngImage *, const void *background, void *pixels, int32_t rowBytes, void *colormap);
  void (*free)(PngImage *);
};

const Png &png(const std::string &path) {
  static std::mutex mutex;
  static Png calls;
  static bool isOpen = false;
  const ForkSafeLock lock(mutex);
  if (isOpen)
    return calls;
  const CodecLibrary library("libpng16.so.16", "libpng16-16", path);
  library.find(calls.begin, "png_image_begin_read_from_memory");
  library.find(calls.finish, "png_image_finish_read");
  library.find(calls.free, "png_image_free");
  isOpen = true;
  return calls;
}

uint32_t wordAt(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i)
    word = word << 8 | static_cast<uint8_t>(bytes[at + i]);
  return word;
}

/// Drops the chunks that have no effect on the pixels here. libpng would apply colour spaces, which Pillow and
/// TensorFlow ignore, and inflate text.
std::string essentialChunks(std::string_view bytes, const std::string &path) {
  std::string kept(signature);
  kept.reserve(bytes.size());
  for (size_t at = signature.size(); at < bytes.size();) {
    if (bytes.size() - at < 12 || wordAt(bytes, at) > bytes.size() - at - 12)
      refuseFile(path, "a complete PNG file", "the end of the file within a chunk");
    const size_t size = size_t{wordAt(bytes, at)} + 12;
    const std::string_view name = bytes.substr(at + 4, 4);
    if (name == "IHDR" && size == 25)
      requirePixels(path, wordAt(bytes, at + 12), wordAt(bytes, at + 8));
    if (name == "IHDR" || name == "PLTE" || name == "IDAT" || name == "tRNS" || name == "IEND")
      kept += bytes.substr(at, size);
    at += size;
    if (name == "IEND")
      return kept;
  }
  refuseFile(path, "a complete PNG file", "no final chunk");
}

/// Drops the alpha channel if all pixels are opaque, and then reduces gray pixels to one channel.
Pixels reduced(Pixels pixels) {
  const std::vector<uint8_t> &all = pixels.bytes;
  const auto from = static_cast<size_t>(pixels.channels);
  for (size_t i = 3; from == 4 && i < all.size(); i += 4)
    if (all[i] != 255)
      return pixels;
  bool isGray = true;
  for (size_t i = 0; i < all.size() && isGray; i += from)
    isGray = all[i] == all[i + 1] && all[i] == all[i + 2];
  const size_t channels = isGray ? 1 : 3;
  if (channels == from)
    return pixels;
  size_t to = 0;
  for (size_t i = 0; i < all.size(); i += from)
    for (size_t c = 0; c < channels; ++c)
      pixels.bytes[to++] = all[i + c];
  pixels.bytes.resize(to);
  pixels.channels = static_cast<int64_t>(channels);
  return pixels;
}

void append(std::string &bytes, uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(word >> shift & 0xff));
}
void appendChunk(std::string &bytes, std::string_view name, std::string_view data) {
  append(bytes, static_cast<uint32_t>(data.size()));
  const size_t begin = bytes.size();
  bytes.append(name).append(data);
  append(bytes, crc32Of(std::as_bytes(std::span(bytes).subspan(begin))));
}

/// Appends a row filtered as differences from the row above, after the filter's byte. The first row is unfiltered.
void appendRow(std::string &rows, const Pixels &pixels, int64_t row) {
  const size_t width = pixels.rowBytes(), begin = static_cast<size_t>(row) * width;
  rows.push_back(row == 0 ? 0 : 2);
  for (size_t i = begin; i < begin + width; ++i)
    rows.push_back(static_cast<char>(pixels.bytes[i] - (row == 0 ? 0 : pixels.bytes[i - width])));
}

} // namespace

Pixels decodedPng(const std::string &bytes, const std::string &path) {
  const Png &calls = png(path);
  const std::string chunks = essentialChunks(bytes, path);
  PngImage image;
  const auto refuse = [&](const PngImage &failed) {
    const std::string text(failed.message, ::strnlen(failed.message, sizeof failed.message));
    refuseFile(path, "a complete PNG file", text.empty() ? "damaged data" : text);
  };
  if (!calls.begin(&image, chunks.data(), chunks.size()))
    refuse(image);
  const std::unique_ptr<PngImage, void (*)(PngImage *)> release(&image, calls.free);
  requirePixels(path, image.height, image.width);
  const bool hasOpacity = (image.format & formatFlagAlpha) != 0; // in the file
  image.format = hasOpacity ? formatRgba : formatRgb;
  image.flags |= flagSixteenBitsAreSrgb;
  Pixels pixels{image.height, image.width, hasOpacity ? 4 : 3, {}};
  pixels.bytes.resize(size_t{image.height} * pixels.rowBytes());
  if (!calls.finish(&image, nullptr, pixels.bytes.data(), 0, nullptr) || image.failed)
    refuse(image);
  return reduced(std::move(pixels));
}

std::string encodedPng(const Pixels &pixels) {
  std::string header, rows, bytes(signature);
  append(header, static_cast<uint32_t>(pixels.width));
  append(header, static_cast<uint32_t>(pixels.height));
  const char colour = pixels.channels == 1 ? 0 : pixels.channels == 3 ? 2 : 6;
  header.append({8, colour, 0, 0, 0}); // bit depth, colour type, and the only methods defined
  for (int64_t row = 0; row < pixels.height; ++row)
    appendRow(rows, pixels, row);
  appendChunk(bytes, "IHDR", header);
  appendChunk(bytes, "IDAT", zlibStream(rows).valueOrThrow());
  appendChunk(bytes, "IEND", {});
  return bytes;
}

} // namespace halftone::detail
