// Loads both libraries as Halftone does, and calls them without checks.
// SPDX-License-Identifier: Apache-2.0
#include "BareDecoders.h"
#include <cstdio>
#include <dlfcn.h>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>

namespace halftone::benchmarks {

namespace {

[[noreturn]] void fail(const std::string &path, const char *reason) {
  throw std::runtime_error(fmt::format("{}: {}", path, reason));
}

template <class F> F *function(const char *library, const char *name) {
  void *const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void *const found = handle ? ::dlsym(handle, name) : nullptr;
  if (!found)
    fail(library, name);
  return reinterpret_cast<F *>(found);
}

void readFile(const std::string &path, std::vector<uint8_t> &bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file || std::fseek(file.get(), 0, SEEK_END) != 0)
    fail(path, "cannot be read");
  bytes.resize(static_cast<size_t>(std::ftell(file.get())));
  if (std::fseek(file.get(), 0, SEEK_SET) != 0 || std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size())
    fail(path, "cannot be read");
}

void decodeJpeg(const std::string &path, const std::vector<uint8_t> &bytes, std::vector<uint8_t> &pixels) {
  constexpr const char *library = "libturbojpeg.so.0";
  static const auto init = function<void *()>(library, "tjInitDecompress");
  static const auto header =
      function<int(void *, const uint8_t *, unsigned long, int *, int *, int *, int *)>(library, "tjDecompressHeader3");
  static const auto decompress =
      function<int(void *, const uint8_t *, unsigned long, uint8_t *, int, int, int, int, int)>(library,
                                                                                                "tjDecompress2");
  static const auto destroy = function<int(void *)>(library, "tjDestroy");
  thread_local const std::unique_ptr<void, int (*)(void *)> decoder(init(), destroy);
  int width = 0, height = 0, subsampling = 0, space = 0;
  if (header(decoder.get(), bytes.data(), bytes.size(), &width, &height, &subsampling, &space) != 0)
    fail(path, "no JPEG file");
  pixels.resize(static_cast<size_t>(width) * static_cast<size_t>(height) * 3);
  if (decompress(decoder.get(), bytes.data(), bytes.size(), pixels.data(), width, 0, height, /*TJPF_RGB=*/0, 0) != 0)
    fail(path, "no whole JPEG file");
}

/// Declares png_image of png.h.
struct Image {
  void *opaque = nullptr;
  uint32_t version = 1, width = 0, height = 0, format = 0, flags = 0, colormapEntries = 0, failed = 0;
  char message[64] = {};
};

void decodePng(const std::string &path, const std::vector<uint8_t> &bytes, std::vector<uint8_t> &pixels) {
  constexpr const char *library = "libpng16.so.16";
  static const auto begin = function<int(Image *, const void *, size_t)>(library, "png_image_begin_read_from_memory");
  static const auto finish =
      function<int(Image *, const void *, void *, int32_t, void *)>(library, "png_image_finish_read");
  Image image;
  if (!begin(&image, bytes.data(), bytes.size()))
    fail(path, "no PNG file");
  image.format = 2; // PNG_FORMAT_RGB
  pixels.resize(static_cast<size_t>(image.width) * image.height * 3);
  if (!finish(&image, nullptr, pixels.data(), 0, nullptr)) // frees what begin() allocated
    fail(path, "no whole PNG file");
}

} // namespace

void decodeBare(const std::string &path, std::vector<uint8_t> &pixels) {
  thread_local std::vector<uint8_t> bytes;
  readFile(path, bytes);
  if (!bytes.empty() && bytes[0] == 0xff)
    decodeJpeg(path, bytes, pixels);
  else
    decodePng(path, bytes, pixels);
}

} // namespace halftone::benchmarks
