// Resizes images: nearest pixels by gathers, weighted sums by one matrix product per axis.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/ImageResize.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/OperationRows.h"
#include "frontend/ops/Operations.h"
#include "frontend/ops/Windows.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>
#include <numeric>

namespace halftone::detail {

namespace {

/// The weight of pixels at distance x >= 0 from the sampled point.
Value lanczosWeight(const Value &x, double radius) {
  constexpr double pi = std::numbers::pi;
  const Value numerator = radius * ops::sin(x * pi) * ops::sin(x * (pi / radius));
  const Value isFar = ops::greater(x, ops::full_like(x, 1e-3));
  const Value divisor = ops::where(isFar, pi * pi * x * x, ops::ones_like(x));
  const Value weight = ops::where(isFar, numerator / divisor, ops::ones_like(x));
  return ops::where(ops::greater(x, ops::full_like(x, radius)), ops::zeros_like(x), weight);
}
/// R. G. Keys, Cubic convolution interpolation for digital image processing, 1981, with a = -0.5.
Value cubicWeight(const Value &x) {
  const Value near = ((1.5 * x - 2.5) * x) * x + 1.0, far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0;
  const Value weight = ops::where(ops::greater_equal(x, ops::ones_like(x)), far, near);
  return ops::where(ops::greater_equal(x, ops::full_like(x, 2.0)), ops::zeros_like(x), weight);
}
Value weightAt(const Value &x, Interpolation interpolation) {
  if (interpolation == Interpolation::bilinear)
    return ops::relu(1.0 - x);
  if (interpolation == Interpolation::bicubic)
    return cubicWeight(x);
  return lanczosWeight(x, interpolation == Interpolation::lanczos3 ? 3.0 : 5.0);
}

/// The weights (from, to) of each of `from` pixels in each of `to` results. Each column sums to 1.
Value weights(int64_t from, int64_t to, Interpolation interpolation, bool antialias, DType dtype) {
  const Shape shape{from, to};
  const double step = static_cast<double>(from) / static_cast<double>(to);
  const Value sampled = (tracing().iota(1, shape, dtype) + 0.5) * step - 0.5;
  Value distance = ops::abs(sampled - tracing().iota(0, shape, dtype));
  if (antialias && step > 1.0)
    distance = distance / step;
  const Value weight = weightAt(distance, interpolation), total = ops::sum(weight, 0, /*keepdims=*/true);
  const Value least = ops::full_like(total, 1000.0 * std::numeric_limits<float>::epsilon());
  const Value divisor = ops::where(ops::greater(ops::abs(total), least), total, ops::ones_like(total));
  return ops::where(ops::greater(ops::abs(total), least), weight / divisor, ops::zeros_like(weight));
}

Value summed(const Value &x, const ImageSize &size, Interpolation interpolation, bool antialias) {
  const DType fine = itemsize(x.dtype()) > 4 ? DType::float64 : DType::float32;
  // contract moves the axis that it replaces to the end; `order` restores the order of axes.
  std::vector<int64_t> order(static_cast<size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  Value y = x;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t from = x.shape()[size.axes[i]];
    if (from == size.extents[i])
      continue;
    const Value matrix = asDtype(weights(from, size.extents[i], interpolation, antialias, fine), x.dtype(), "resize");
    const auto position = std::ranges::find(order, size.axes[i]);
    y = tracing().contract(y, matrix, {{}, {}, {position - order.begin()}, {0}});
    std::rotate(position, position + 1, order.end());
  }
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return std::ranges::is_sorted(back) ? y : tracing().transpose(y, back);
}

Value looked(const Value &x, const ImageSize &size) {
  Value y = x;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t from = x.shape()[size.axes[i]], to = size.extents[i];
    if (from == to)
      continue;
    const Value index = tracing().iota(0, Shape({to}), indexDtype(extentProduct(extentProduct(2, from), to)));
    y = ops::take(y, ops::floor_divide((index * 2 + 1) * from, ops::full_like(index, extentProduct(2, to))),
                  size.axes[i]);
  }
  return y;
}

/// Rounds and clamps to an integer dtype.
Value saturated(const Value &x, DType dtype) {
  const bool isUnsigned = name(dtype).starts_with("u");
  const int bits = static_cast<int>(itemsize(dtype)) * 8 - (isUnsigned ? 0 : 1);
  const double most = std::ldexp(1.0, bits) - 1.0, least = isUnsigned ? 0.0 : -most - 1.0;
  return asDtype(ops::clip(ops::round(x), least, most), dtype, "resize");
}

/// The extents of the box in x, cropped or grown to the target aspect ratio.
std::array<int64_t, 2> boxOf(const Value &x, const ImageSize &size) {
  const int64_t height = x.shape()[size.axes[0]], width = x.shape()[size.axes[1]];
  return {extentProduct(width, size.extents[0]) / size.extents[1],
          extentProduct(height, size.extents[1]) / size.extents[0]};
}

} // namespace

Value resized(const Value &x, const ImageSize &size, Interpolation interpolation, bool antialias) {
  if (interpolation == Interpolation::nearest)
    return looked(x, size);
  if (is_float(x.dtype()))
    return summed(x, size, interpolation, antialias);
  return saturated(summed(asDtype(x, DType::float32, "resize"), size, interpolation, antialias), x.dtype());
}

Value croppedToRatio(const Value &x, const ImageSize &size) {
  const std::array<int64_t, 2> box = boxOf(x, size);
  std::vector<int64_t> start(static_cast<size_t>(x.rank()), 0), dims = x.shape().dims();
  for (size_t i = 0; i < 2; ++i) {
    const auto axis = static_cast<size_t>(size.axes[i]);
    const int64_t extent = std::max<int64_t>(std::min(dims[axis], box[i]), 1);
    start[axis] = (dims[axis] - extent) / 2;
    dims[axis] = extent;
  }
  return ops::slice(x, Shape(std::move(start)), Shape(std::move(dims)));
}

/// Centers x in the smallest box with the aspect ratio of `size`, and fills the rest with `fill`.
static Value paddedToRatio(const Value &x, const ImageSize &size, double fill) {
  const std::array<int64_t, 2> box = boxOf(x, size);
  for (size_t i = 0; i < 2; ++i) {
    std::vector<int64_t> dims = x.shape().dims();
    int64_t &extent = dims[static_cast<size_t>(size.axes[i])];
    const int64_t margin = (std::max(extent, box[i]) - extent) / 2;
    if (margin == 0)
      continue;
    extent = margin;
    const Value border = tracing().splat(fill, Shape(std::move(dims)), x.dtype());
    return ops::concatenate({border, x, border}, size.axes[i]);
  }
  return x;
}

Value resized(const Value &x, const ImageSize &size, const ops::image::ResizeArgs &args) {
  Value y = x;
  if (args.crop_to_aspect_ratio)
    y = croppedToRatio(x, size);
  else if (args.pad_to_aspect_ratio)
    y = paddedToRatio(x, size, args.fill_value);
  return resized(y, size, args.interpolation, args.antialias);
}

Values resizeOperation(OperationArguments &a) {
  const Value images = a.value("images");
  if (!a.isNull("fill_mode") && a.text("fill_mode") != "constant")
    throw Error(ErrorKind::value_error, "the operation Resize has a `fill_mode` other than \"constant\"");
  const Integers size(a.integers("size"));
  ops::image::ResizeArgs args;
  if (!a.isNull("interpolation"))
    args.interpolation = wordOf<Interpolation>(a, "interpolation");
  args.antialias = a.flag("antialias");
  args.crop_to_aspect_ratio = a.flag("crop_to_aspect_ratio");
  args.pad_to_aspect_ratio = a.flag("pad_to_aspect_ratio");
  args.fill_value = a.number("fill_value", 0.0);
  args.data_format = wordOf<DataFormat>(a, "data_format");
  return ops::image::resize(images, size, args);
}

} // namespace halftone::detail

namespace halftone {
using namespace detail;

Value ops::image::resize(const Value &images, const Integers &size, const ResizeArgs &args) {
  const std::vector<int64_t> &wanted = size.list();
  if (wanted.size() != 2 || std::ranges::any_of(wanted, [](int64_t extent) { return extent < 1; }))
    throw Error(ErrorKind::value_error, "Argument `size` must be a height and a width, both positive.");
  if (args.crop_to_aspect_ratio && args.pad_to_aspect_ratio)
    throw Error(ErrorKind::value_error, "Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.");
  if (isSymbolic(images)) {
    Config config = configOf("size", wanted);
    setField(config, "interpolation", args.interpolation);
    setField(config, "antialias", args.antialias);
    setField(config, "crop_to_aspect_ratio", args.crop_to_aspect_ratio);
    setField(config, "pad_to_aspect_ratio", args.pad_to_aspect_ratio);
    setField(config, "fill_mode", std::string("constant"));
    setField(config, "fill_value", args.fill_value);
    setField(config, "data_format", args.data_format);
    return recordOperation("Resize", {images}, config);
  }
  return applyOne("resize", {images}, [wanted, args](const std::vector<Value> &v) {
    const int64_t rank = v[0].rank();
    requireImages(v[0].shape());
    const int64_t height = args.data_format == DataFormat::channels_last ? rank - 3 : rank - 2;
    return resized(v[0], {{height, height + 1}, {wanted[0], wanted[1]}}, args);
  });
}

} // namespace halftone
