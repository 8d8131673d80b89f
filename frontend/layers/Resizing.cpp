// UpSampling, Resizing and CenterCrop: changes of image size.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/FieldsImage.h"
#include "frontend/layers/PlainBody.h"
#include "frontend/layers/SpatialAxes.h"
#include "frontend/ops/ImageResize.h"
#include "runtime/base/Extents.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

/// Repeats each element sizes[i] times along the i-th spatial axis.
Value repeated(const Value &x, const std::vector<int64_t> &sizes, DataFormat format) {
  requireRank(x.shape(), std::ssize(sizes) + 2);
  const std::vector<int64_t> axes = spatialAxes(std::ssize(sizes), format);
  Value y = x;
  for (size_t i = 0; i < axes.size(); ++i)
    y = sizes[i] == 1 ? y : ops::repeat(y, sizes[i], axes[i]);
  return y;
}
Value upsample1(const Value &x, const UpSampling1DOptions &options, const CallContext &) {
  return repeated(x, {options.size}, DataFormat::channels_last);
}
Value upsample2(const Value &x, const UpSampling2DOptions &options, const CallContext &) {
  const std::vector<int64_t> &sizes = options.size.list();
  if (options.interpolation == Interpolation::nearest)
    return repeated(x, sizes, options.data_format);
  requireRank(x.shape(), 4);
  const std::array<int64_t, 2> axes = imageAxes(x.shape(), options.data_format);
  return resized(x, {axes, {extentProduct(x.shape()[axes[0]], sizes[0]), extentProduct(x.shape()[axes[1]], sizes[1])}},
                 options.interpolation);
}
Value upsample3(const Value &x, const UpSampling3DOptions &options, const CallContext &) {
  return repeated(x, options.size.list(), options.data_format);
}

template <class Options> ImageSize wantedSize(const Value &x, const Options &options) {
  return {imageAxes(x.shape(), options.data_format), {options.height, options.width}};
}
Value resize(const Value &x, const ResizingOptions &options, const CallContext &) {
  return resized(x, wantedSize(x, options),
                 {.interpolation = options.interpolation,
                  .antialias = options.antialias,
                  .crop_to_aspect_ratio = options.crop_to_aspect_ratio,
                  .pad_to_aspect_ratio = options.pad_to_aspect_ratio,
                  .fill_value = options.fill_value});
}
Value centerCrop(const Value &x, const CenterCropOptions &options, const CallContext &context) {
  const ImageSize size = wantedSize(x, options);
  const Value y = ops::cast(x, context.compute_dtype());
  std::vector<int64_t> start(static_cast<size_t>(y.rank()), 0), dims = y.shape().dims();
  for (size_t i = 0; i < 2; ++i) {
    const auto axis = static_cast<size_t>(size.axes[i]);
    if (dims[axis] < size.extents[i])
      return resized(croppedToRatio(y, size), size, Interpolation::bilinear);
    start[axis] = (dims[axis] - size.extents[i]) / 2;
    dims[axis] = size.extents[i];
  }
  return ops::slice(y, Shape(std::move(start)), Shape(std::move(dims)));
}

} // namespace

UpSampling1D::UpSampling1D(int64_t size, const LayerArgs &args, Where where)
    : Layer(plain(UpSampling1DOptions{args, size}, upsample1), "UpSampling1D", args, where) {
  requirePositive(*this, "size", size, where);
}
UpSampling2D::UpSampling2D(const Integers &size, const UpSampling2DArgs &args, Where where)
    : Layer(plain(UpSampling2DOptions{args, forEachAxis(size, 2)}, upsample2), "UpSampling2D", layerArgs(args), where) {
  requireEntries(*this, "size", forEachAxis(size, 2), 2, 1, where);
}
UpSampling3D::UpSampling3D(const Integers &size, const DataFormatArgs &args, Where where)
    : Layer(plain(UpSampling3DOptions{args, forEachAxis(size, 3)}, upsample3), "UpSampling3D", layerArgs(args), where) {
  requireEntries(*this, "size", forEachAxis(size, 3), 3, 1, where);
}

Resizing::Resizing(int64_t height, int64_t width, const ResizingArgs &args, Where where)
    : Layer(plain(ResizingOptions{args, height, width}, resize), "Resizing", layerArgs(args, true), where) {
  requirePositive(*this, "height", height, where);
  requirePositive(*this, "width", width, where);
  if (args.crop_to_aspect_ratio && args.pad_to_aspect_ratio)
    throw Error(ErrorKind::value_error, "Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.",
                name(), where);
}
CenterCrop::CenterCrop(int64_t height, int64_t width, const CenterCropArgs &args, Where where)
    : Layer(plain(CenterCropOptions{args, height, width}, centerCrop), "CenterCrop", layerArgs(args, true), where) {
  requirePositive(*this, "height", height, where);
  requirePositive(*this, "width", width, where);
}

} // namespace halftone::layers
