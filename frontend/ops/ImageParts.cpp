// keras.ops.image on Values: patches, margins and colors of images.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/ops/OperationRows.h"
#include "frontend/ops/Operations.h"
#include "frontend/ops/Windows.h"
#include "halftone/ImageOps.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace halftone {
using namespace detail;
using List = std::vector<Value>;
using Extent = std::optional<int64_t>;

namespace {

/// The windows of a batch (n, s..., channels): (n, positions..., taps * channels).
Value patchesOf(const Value &batch, const std::vector<int64_t> &size, const ops::image::ExtractPatchesArgs &args) {
  const auto rank = std::ssize(size);
  const std::vector<int64_t> dims = batch.shape().dims();
  const std::vector<int64_t> &strides = args.strides.list().empty() ? size : args.strides.list();
  const Windows windows = windowsOf("extract_patches",
                                    {{dims.begin() + 1, dims.end() - 1},
                                     size,
                                     perAxis("extract_patches", "strides", strides, rank),
                                     perAxis("extract_patches", "dilation_rate", args.dilation_rate.list(), rank)},
                                    args.padding);
  const Value taken = tracing().window(batch, windows.steps, windows.positions, size, /*lowest=*/false);
  std::vector<int64_t> shape{dims[0]};
  shape.insert(shape.end(), windows.positions.begin(), windows.positions.end());
  shape.push_back(extentProduct(extentProduct(size), dims.back()));
  return tracing().reshape(taken, Shape(std::move(shape)));
}

Value patches(const Value &images, const std::vector<int64_t> &size, const ops::image::ExtractPatchesArgs &args) {
  const auto rank = std::ssize(size);
  if (images.rank() != rank + 1 && images.rank() != rank + 2)
    throw Error(
        ErrorKind::value_error,
        fmt::format("extract_patches: patches of {0} axes need images of rank {1} (one image) or {2} (a batch). "
                    "Received input with shape: {3}",
                    rank, rank + 1, rank + 2, images.shape().str()));
  const bool isOne = images.rank() == rank + 1;
  const Value batch = channelsLast(isOne ? ops::expand_dims(images, 0) : images, args.data_format);
  const Value result = channelsBack(patchesOf(batch, size, args), args.data_format);
  return isOne ? ops::squeeze(result, 0) : result;
}

Value extracted(const Value &images, const Integers &size, const ops::image::ExtractPatchesArgs &args) {
  const auto isCount = [](int64_t extent) { return extent >= 1; };
  if ((size.list().size() != 2 && size.list().size() != 3) || !std::ranges::all_of(size.list(), isCount))
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid `size` argument. Expected one, two or three positive numbers. Received: "
                            "size=({})",
                            fmt::join(size.list(), ", ")));
  if (isSymbolic(images)) {
    Config config = configOf("size", size.list());
    setField(config, "strides", args.strides.list().empty() ? size : args.strides);
    setField(config, "dilation_rate", args.dilation_rate);
    setField(config, "padding", args.padding);
    setField(config, "data_format", args.data_format);
    return recordOperation("ExtractPatches", {images}, config);
  }
  return applyOne("extract_patches", {images},
                  [list = size.list(), args](const List &v) { return patches(v[0], list, args); });
}

Integers sizeOf(const Integers &size, size_t count) {
  return size.list().size() == 1 ? Integers(std::vector<int64_t>(count, size.list().front())) : size;
}

/// The margins and the target extent of one axis. Exactly one of the three is none.
struct MarginsOf {
  const char *before, *after, *target; // argument names
  Extent low, high, extent;
};
template <class Args> std::array<MarginsOf, 2> marginsOf(const Args &args) {
  if constexpr (requires { args.top_cropping; })
    return {{{"top_cropping", "bottom_cropping", "target_height", args.top_cropping, args.bottom_cropping,
              args.target_height},
             {"left_cropping", "right_cropping", "target_width", args.left_cropping, args.right_cropping,
              args.target_width}}};
  else
    return {
        {{"top_padding", "bottom_padding", "target_height", args.top_padding, args.bottom_padding, args.target_height},
         {"left_padding", "right_padding", "target_width", args.left_padding, args.right_padding, args.target_width}}};
}

void requireNotNegative(const char *argument, const Extent &value) {
  if (value && *value < 0)
    throw Error(ErrorKind::value_error, fmt::format("{0} must be >= 0. Received: {0}={1}", argument, *value));
}
void requireMargins(const MarginsOf &margins) {
  const auto text = [](const Extent &extent) { return extent ? std::to_string(*extent) : "None"; };
  if (!margins.low + !margins.high + !margins.extent != 1)
    throw Error(ErrorKind::value_error,
                fmt::format("Must specify exactly two of {0}, {1}, {2}. Received: {0}={3}, {1}={4}, {2}={5}",
                            margins.before, margins.after, margins.target, text(margins.low), text(margins.high),
                            text(margins.extent)));
  requireNotNegative(margins.before, margins.low);
  requireNotNegative(margins.after, margins.high);
  requireNotNegative(margins.target, margins.extent);
}
/// Computes the missing one of the three for an axis of `extent`. `sign` is 1 for padding, -1 for cropping.
MarginsOf completed(MarginsOf margins, int64_t extent, int64_t sign) {
  if (!margins.extent)
    margins.extent = extentSum(extent, sign * extentSum(*margins.low, *margins.high));
  const int64_t both = sign * (*margins.extent - extent);
  if (!margins.low)
    margins.low = extentSum(both, -*margins.high);
  if (!margins.high)
    margins.high = extentSum(both, -*margins.low);
  requireNotNegative(margins.before, margins.low);
  requireNotNegative(margins.after, margins.high);
  requireNotNegative(margins.target, margins.extent);
  return margins;
}

template <class Args, class F> Value withMargins(const Value &images, const Args &args, int64_t sign, F change) {
  requireImages(images.shape());
  const int64_t rank = images.rank(), height = args.data_format == DataFormat::channels_last ? rank - 3 : rank - 2;
  Value result = images;
  for (int64_t i = 0; i < 2; ++i)
    result = change(result, height + i,
                    completed(marginsOf(args)[static_cast<size_t>(i)], images.shape()[height + i], sign));
  return result;
}
Value cropped(const Value &images, const ops::image::CropImagesArgs &args) {
  return withMargins(images, args, -1, [](const Value &x, int64_t axis, const MarginsOf &margins) {
    std::vector<int64_t> start(static_cast<size_t>(x.rank()), 0), dims = x.shape().dims();
    start[static_cast<size_t>(axis)] = *margins.low;
    dims[static_cast<size_t>(axis)] = *margins.extent;
    return ops::slice(x, Shape(std::move(start)), Shape(std::move(dims)));
  });
}
Value padded(const Value &images, const ops::image::PadImagesArgs &args) {
  return withMargins(images, args, 1, [](const Value &x, int64_t axis, const MarginsOf &margins) {
    std::vector<PadWidth::Sides> widths(static_cast<size_t>(x.rank()), {0, 0});
    widths[static_cast<size_t>(axis)] = {*margins.low, *margins.high};
    return ops::pad(x, PadWidth(std::move(widths)));
  });
}

template <class Args> Value recordMargins(const char *className, const Value &images, const Args &args) {
  Config config;
  for (const MarginsOf &axis : marginsOf(args)) {
    setField(config, axis.before, axis.low);
    setField(config, axis.after, axis.high);
    setField(config, axis.target, axis.extent);
  }
  setField(config, "data_format", args.data_format);
  return recordOperation(className, {images}, config);
}
template <class Args>
Value withMargins(const char *className, const char *name, const Value &images, const Args &args,
                  Value (*change)(const Value &, const Args &)) {
  for (const MarginsOf &axis : marginsOf(args))
    requireMargins(axis);
  if (isSymbolic(images))
    return recordMargins(className, images, args);
  return applyOne(name, {images}, [args, change](const List &v) { return change(v[0], args); });
}

/// Reads the margin arguments from a file, by their Python names.
template <class Args> void readMargins(OperationArguments &a, Args &args) {
  if constexpr (requires { args.top_cropping; }) {
    args.top_cropping = a.maybeInteger("top_cropping");
    args.left_cropping = a.maybeInteger("left_cropping");
    args.bottom_cropping = a.maybeInteger("bottom_cropping");
    args.right_cropping = a.maybeInteger("right_cropping");
  } else {
    args.top_padding = a.maybeInteger("top_padding");
    args.left_padding = a.maybeInteger("left_padding");
    args.bottom_padding = a.maybeInteger("bottom_padding");
    args.right_padding = a.maybeInteger("right_padding");
  }
  args.target_height = a.maybeInteger("target_height");
  args.target_width = a.maybeInteger("target_width");
  args.data_format = wordOf<DataFormat>(a, "data_format");
}

Value gray(const Value &images, DataFormat format) {
  requireImages(images.shape());
  const int64_t axis = images.rank() - (format == DataFormat::channels_last ? 1 : 3), channels = images.shape()[axis];
  if (channels != 1 && channels != 3)
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid channel size: expected 3 (RGB) or 1 (Grayscale). Received input with shape: "
                            "images.shape={}",
                            images.shape().str()));
  if (channels == 1)
    return images;
  const Value x = asFloat(images);
  const auto channel = [&](int64_t i) {
    std::vector<int64_t> start(static_cast<size_t>(x.rank()), 0), dims = x.shape().dims();
    start[static_cast<size_t>(axis)] = i;
    dims[static_cast<size_t>(axis)] = 1;
    const Value part = ops::slice(x, Shape(std::move(start)), Shape(std::move(dims)));
    return itemsize(x.dtype()) < 4 ? asDtype(part, DType::float32) : part;
  };
  return asDtype(channel(0) * 0.2989 + channel(1) * 0.587 + channel(2) * 0.114, images.dtype(), "rgb_to_grayscale");
}

} // namespace

namespace ops::image {

Value extract_patches(const Value &images, const Integers &size, const ExtractPatchesArgs &args) {
  return extracted(images, sizeOf(size, 2), args);
}
Value extract_patches_3d(const Value &volumes, const Integers &size, const ExtractPatchesArgs &args) {
  const Integers whole = sizeOf(size, 3);
  if (whole.list().size() != 3)
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid `size` argument. Expected one or three numbers. Received: size=({})",
                            fmt::join(size.list(), ", ")));
  return extracted(volumes, whole, args);
}
Value crop_images(const Value &images, const CropImagesArgs &args) {
  return withMargins("CropImages", "crop_images", images, args, cropped);
}
Value pad_images(const Value &images, const PadImagesArgs &args) {
  return withMargins("PadImages", "pad_images", images, args, padded);
}
Value rgb_to_grayscale(const Value &images, const Choice<DataFormat> &data_format) {
  if (isSymbolic(images))
    return recordOperation("RGBToGrayscale", {images}, configOf("data_format", data_format));
  return applyOne("rgb_to_grayscale", {images}, [data_format](const List &v) { return gray(v[0], data_format); });
}

} // namespace ops::image

Values detail::extractPatchesOperation(OperationArguments &a) {
  const Value images = a.value("images");
  const Integers size(a.integers("size"));
  ops::image::ExtractPatchesArgs args;
  args.strides = Integers(a.integers("strides"));
  if (!a.isNull("dilation_rate"))
    args.dilation_rate = Integers(a.integers("dilation_rate"));
  args.padding = wordOf<Padding>(a, "padding");
  args.data_format = wordOf<DataFormat>(a, "data_format");
  return ops::image::extract_patches(images, size, args);
}
Values detail::cropImagesOperation(OperationArguments &a) {
  const Value images = a.value("images");
  ops::image::CropImagesArgs args;
  readMargins(a, args);
  return ops::image::crop_images(images, args);
}
Values detail::padImagesOperation(OperationArguments &a) {
  const Value images = a.value("images");
  ops::image::PadImagesArgs args;
  readMargins(a, args);
  return ops::image::pad_images(images, args);
}
Values detail::grayscaleOperation(OperationArguments &a) {
  const Value images = a.value("images");
  return ops::image::rgb_to_grayscale(images, wordOf<DataFormat>(a, "data_format"));
}

} // namespace halftone
