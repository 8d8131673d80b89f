// keras.utils for images: load, save, and conversions to and from arrays.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/ImageFiles.h"
#include "frontend/data/ImageResample.h"
#include "halftone/Policy.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Extents.h"
#include "runtime/base/OpenFile.h"
#include "runtime/base/WriteFile.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace detail {

Pixels inMode(Pixels pixels, ColorMode mode) {
  const int64_t from = pixels.channels, to = mode == ColorMode::grayscale ? 1 : mode == ColorMode::rgb ? 3 : 4;
  if (from == to)
    return pixels;
  Pixels result{pixels.height, pixels.width, to, {}};
  result.bytes.resize(static_cast<size_t>(result.height) * result.rowBytes());
  const auto count = static_cast<size_t>(pixels.height * pixels.width);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t *in = &pixels.bytes[i * static_cast<size_t>(from)];
    const uint8_t rgba[4] = {in[0], in[from < 3 ? 0 : 1], in[from < 3 ? 0 : 2], from == 4 ? in[3] : uint8_t{255}};
    uint8_t *out = &result.bytes[i * static_cast<size_t>(to)];
    if (to == 1)
      *out = static_cast<uint8_t>((rgba[0] * 19595 + rgba[1] * 38470 + rgba[2] * 7471 + 0x8000) >> 16);
    else
      std::copy_n(rgba, to, out);
  }
  return result;
}

Pixels readImage(const std::string &path, ColorMode mode) {
  return inMode(decodedImage(readFile(path).valueOrThrow(), path), mode);
}

} // namespace detail

namespace {

Tensor tensorOfSize(const std::array<int64_t, 2> &size, int64_t channels) {
  return TensorAccess::allocate(DType::uint8, Shape{size[0], size[1], channels});
}
Tensor filled(Tensor tensor, const Pixels &pixels) {
  std::memcpy(TensorAccess::mutableData(tensor), pixels.bytes.data(), pixels.bytes.size());
  return tensor;
}
Tensor tensorOf(const Pixels &pixels) {
  return filled(tensorOfSize({pixels.height, pixels.width}, pixels.channels), pixels);
}

/// Transposes (height, width, channels) to (channels, height, width).
Tensor channelsFirst(const Tensor &image) {
  const Shape &shape = image.shape();
  const int64_t plane = shape[0] * shape[1], channels = shape[2];
  Tensor result = TensorAccess::allocate(image.dtype(), Shape{channels, shape[0], shape[1]});
  const Tensor source = TensorAccess::onHost(image);
  const std::byte *const from = TensorAccess::data(source);
  std::byte *to = TensorAccess::mutableData(result);
  const auto size = static_cast<int64_t>(itemsize(image.dtype()));
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < plane; ++i, to += size)
      std::memcpy(to, from + (i * channels + c) * size, static_cast<size_t>(size));
  return result;
}

/// The center box with the aspect ratio of `size`, as Keras's load_img crops it.
Box middle(const Pixels &pixels, const std::array<int64_t, 2> &size) {
  const int64_t height = std::min(pixels.height, extentProduct(pixels.width, size[0]) / size[1]);
  const int64_t width = std::min(pixels.width, extentProduct(pixels.height, size[1]) / size[0]);
  return {(pixels.height - height) / 2, (pixels.width - width) / 2, height, width};
}

/// Converts an array to 8-bit pixels, in the layout `args.data_format`.
Pixels pixelsOf(const Tensor &x, const utils::ArrayToImgArgs &args) {
  if (!x.defined() || x.shape().rank() != 3)
    throw Error(ErrorKind::value_error,
                fmt::format("Expected image array to have rank 3 (single image). Got array with shape: {}",
                            x.defined() ? x.shape().str() : "(undefined)"));
  const bool isFirst = args.data_format == DataFormat::channels_first;
  const Shape &shape = x.shape();
  Pixels pixels{shape[isFirst ? 1 : 0], shape[isFirst ? 2 : 1], shape[isFirst ? 0 : 2], {}};
  if (pixels.channels != 1 && pixels.channels != 3 && pixels.channels != 4)
    throw Error(ErrorKind::value_error, fmt::format("Unsupported channel number: {}", pixels.channels));
  if (shape.elements() == 0)
    throw Error(ErrorKind::value_error,
                fmt::format("Expected an image with at least one pixel. Got array with shape: {}", shape.str()));
  std::vector<float> numbers = x.astype(float32).to_vector<float>();
  const auto [least, most] = std::ranges::minmax(numbers);
  const float range = most - least;
  const int64_t plane = pixels.height * pixels.width;
  for (int64_t i = 0; i < plane; ++i)
    for (int64_t c = 0; c < pixels.channels; ++c) {
      float number = numbers[static_cast<size_t>(isFirst ? c * plane + i : i * pixels.channels + c)];
      if (args.scale)
        number = (range != 0.0f ? (number - least) / range : number - least) * 255.0f;
      pixels.bytes.push_back(std::isnan(number) ? 0 : static_cast<uint8_t>(std::clamp(number, 0.0f, 255.0f)));
    }
  return pixels;
}

std::string formatOf(const std::string &path, const std::string &given) {
  std::string format = given.empty() ? std::filesystem::path(path).extension().string() : given;
  std::ranges::transform(format, format.begin(), [](unsigned char c) { return std::tolower(c); });
  if (format.starts_with(".") && given.empty())
    format.erase(0, 1);
  if (format != "png" && format != "jpg" && format != "jpeg")
    throw Error(
        ErrorKind::value_error,
        fmt::format("'{}' cannot be written in the format '{}': expected 'png', 'jpg' or 'jpeg'", path, format));
  return format;
}

} // namespace

namespace utils {

Tensor load_img(const std::string &path, const LoadImgArgs &args) {
  if (args.target_size && ((*args.target_size)[0] < 1 || (*args.target_size)[1] < 1))
    throw Error(ErrorKind::value_error,
                fmt::format("Argument `target_size` must be a height and a width, both positive. Received: ({}, {})",
                            (*args.target_size)[0], (*args.target_size)[1]));
  const Pixels pixels = readImage(path, args.color_mode);
  if (!args.target_size)
    return tensorOf(pixels);
  const Box whole{0, 0, pixels.height, pixels.width};
  const Box box = args.keep_aspect_ratio ? middle(pixels, *args.target_size) : whole;
  if (box.height < 1 || box.width < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("'{}' of {} x {} pixels cannot be cropped to the aspect ratio of `target_size`", path,
                            pixels.width, pixels.height));
  const bool isOfSize = pixels.height == (*args.target_size)[0] && pixels.width == (*args.target_size)[1];
  if (isOfSize)
    return tensorOf(pixels);
  Tensor result = tensorOfSize(*args.target_size, pixels.channels); // rejects a size that does not fit in memory
  return filled(std::move(result), resampled(pixels, box, *args.target_size, args.interpolation));
}

Tensor img_to_array(const Tensor &img, const ImgToArrayArgs &args) {
  const int64_t rank = img.defined() ? img.shape().rank() : 0;
  if (rank != 2 && rank != 3)
    throw Error(ErrorKind::value_error,
                fmt::format("Unsupported image shape: {}", img.defined() ? img.shape().str() : "(undefined)"));
  const Tensor array = (rank == 3 ? img : img.reshape({img.shape()[0], img.shape()[1], 1}))
                           .astype(args.dtype.value_or(standardize_dtype(config::floatx())));
  return args.data_format == DataFormat::channels_last ? array : channelsFirst(array);
}

Tensor array_to_img(const Tensor &x, const ArrayToImgArgs &args) { return tensorOf(pixelsOf(x, args)); }

void save_img(const std::string &path, const Tensor &x, const SaveImgArgs &args) {
  const std::string format = formatOf(path, args.file_format);
  const Pixels pixels = pixelsOf(x, {.data_format = args.data_format, .scale = args.scale});
  const std::string bytes = format == "png" ? encodedPng(pixels) : encodedJpeg(pixels, path);
  writeFile(path, {bytes}).orThrow();
}

} // namespace utils
} // namespace halftone
