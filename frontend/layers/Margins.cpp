// ZeroPadding and Cropping: adds or removes margins along spatial axes.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/FieldsImage.h"
#include "frontend/layers/PlainBody.h"
#include "frontend/layers/SpatialAxes.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

std::vector<Margin> marginsOf(const Margins &margins) { return margins.list(); }
std::vector<Margin> marginsOf(const Integers &sides) { return {{sides.list()[0], sides.list()[1]}}; }

Value zeros(const Value &like, int64_t axis, int64_t extent) {
  std::vector<int64_t> dims = like.shape().dims();
  dims[static_cast<size_t>(axis)] = extent;
  return tracing().splat(0.0, Shape(std::move(dims)), like.dtype());
}

template <class Options> Value pad(const Value &x, const Options &options, const CallContext &) {
  const std::vector<Margin> margins = marginsOf(options.padding);
  requireRank(x.shape(), std::ssize(margins) + 2);
  const std::vector<int64_t> axes = spatialAxes(std::ssize(margins), options.data_format);
  Value y = x;
  for (size_t i = 0; i < axes.size(); ++i) {
    std::vector<Value> parts{y};
    if (margins[i].before > 0)
      parts.insert(parts.begin(), zeros(y, axes[i], margins[i].before));
    if (margins[i].after > 0)
      parts.push_back(zeros(y, axes[i], margins[i].after));
    y = ops::concatenate(Values(std::move(parts)), axes[i]);
  }
  return y;
}

template <class Options> Value crop(const Value &x, const Options &options, const CallContext &) {
  const std::vector<Margin> margins = marginsOf(options.cropping);
  requireRank(x.shape(), std::ssize(margins) + 2);
  DataFormat format = DataFormat::channels_last;
  if constexpr (requires { options.data_format; })
    format = options.data_format;
  const std::vector<int64_t> axes = spatialAxes(std::ssize(margins), format);
  std::vector<int64_t> start(static_cast<size_t>(x.rank()), 0), dims = x.shape().dims();
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    start[axis] = margins[i].before;
    dims[axis] -= extentSum(margins[i].before, margins[i].after);
    if (dims[axis] <= 0)
      throw Error(
          ErrorKind::value_error,
          fmt::format("Values in `cropping` argument should be smaller than the corresponding spatial dimension "
                      "of the input. Received: inputs.shape={}, cropping=({}, {}) of axis {}",
                      x.shape().str(), margins[i].before, margins[i].after, axis));
  }
  return ops::slice(x, Shape(std::move(start)), Shape(std::move(dims)));
}

} // namespace

ZeroPadding1D::ZeroPadding1D(const Integers &padding, const DataFormatArgs &args, Where where)
    : Layer(plain(ZeroPadding1DOptions{args, forEachAxis(padding, 2)}, pad), "ZeroPadding1D", layerArgs(args), where) {
  requireEntries(*this, "padding", forEachAxis(padding, 2), 2, 0, where);
}
ZeroPadding2D::ZeroPadding2D(const Margins &padding, const DataFormatArgs &args, Where where)
    : Layer(plain(ZeroPaddingOptions<ZeroPadding2D>{args, forEachAxis(padding, 2)}, pad), "ZeroPadding2D",
            layerArgs(args), where) {
  requireEntries(*this, "padding", forEachAxis(padding, 2), 2, where);
}
ZeroPadding3D::ZeroPadding3D(const Margins &padding, const DataFormatArgs &args, Where where)
    : Layer(plain(ZeroPaddingOptions<ZeroPadding3D>{args, forEachAxis(padding, 3)}, pad), "ZeroPadding3D",
            layerArgs(args), where) {
  requireEntries(*this, "padding", forEachAxis(padding, 3), 3, where);
}
Cropping1D::Cropping1D(const Integers &cropping, const LayerArgs &args, Where where)
    : Layer(plain(Cropping1DOptions{args, forEachAxis(cropping, 2)}, crop), "Cropping1D", args, where) {
  requireEntries(*this, "cropping", forEachAxis(cropping, 2), 2, 0, where);
}
Cropping2D::Cropping2D(const Margins &cropping, const DataFormatArgs &args, Where where)
    : Layer(plain(CroppingOptions<Cropping2D>{args, forEachAxis(cropping, 2)}, crop), "Cropping2D", layerArgs(args),
            where) {
  requireEntries(*this, "cropping", forEachAxis(cropping, 2), 2, where);
}
Cropping3D::Cropping3D(const Margins &cropping, const DataFormatArgs &args, Where where)
    : Layer(plain(CroppingOptions<Cropping3D>{args, forEachAxis(cropping, 3)}, crop), "Cropping3D", layerArgs(args),
            where) {
  requireEntries(*this, "cropping", forEachAxis(cropping, 3), 3, where);
}

} // namespace halftone::layers
